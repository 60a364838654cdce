-- Gives a fair lock back once and wakes who is next. A lock that has expired is nobody's: then the
-- next is woken and the caller told that all is well.
-- KEYS[1] the hash; KEYS[2] the queue; KEYS[3] when each waiter is presumed dead; KEYS[4] the channel,
-- to which a colon and the waiter are added; KEYS[5] the latch. ARGV[1] the message; ARGV[2] time to
-- live in milliseconds; ARGV[3] the holder; ARGV[4] the time now; ARGV[5] how to publish; ARGV[6]
-- time to live of the latch. 1 = free, 0 = still held, nil = not the caller's.
local done = redis.call('GET', KEYS[5])
if done then
  return tonumber(done)
end
-- Who waits in front for longer than its time is presumed dead.
while true do
  local head = redis.call('LINDEX', KEYS[2], 0)
  if not head then
    break
  end
  local until_ms = redis.call('ZSCORE', KEYS[3], head)
  if not until_ms or tonumber(until_ms) > tonumber(ARGV[4]) then
    break
  end
  redis.call('ZREM', KEYS[3], head)
  redis.call('LPOP', KEYS[2])
end
local free = 0
if redis.call('EXISTS', KEYS[1]) == 0 then
  free = 1
elseif redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return nil
elseif redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  redis.call('DEL', KEYS[1])
  free = 1
end
redis.call('SET', KEYS[5], free, 'PX', ARGV[6])
local next_in_turn = redis.call('LINDEX', KEYS[2], 0)
if free == 1 and next_in_turn then
  redis.call(ARGV[5], KEYS[4] .. ':' .. next_in_turn, ARGV[1])
end
return free
