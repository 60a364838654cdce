-- Gives a fair lock back once and wakes who is next. A lock that has expired is nobody's: then the
-- next is woken and the caller told that all is well.
-- KEYS[4] the channel, to which a colon and the waiter are added; KEYS[5] the latch, if the era has
-- one. ARGV[1] the message; ARGV[2] time to live in milliseconds; ARGV[3] the holder; ARGV[4] the time
-- now; ARGV[5] how to publish; ARGV[6] time to live of the latch. 1 = free, 0 = still held, nil = not
-- the caller's.
local done = KEYS[5] and redis.call('GET', KEYS[5])
if done then
  return tonumber(done)
end
drop_the_dead(ARGV[4])
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
if KEYS[5] then
  redis.call('SET', KEYS[5], free, 'PX', ARGV[6])
end
local next_in_turn = redis.call('LINDEX', KEYS[2], 0)
if free == 1 and next_in_turn then
  redis.call(ARGV[5], KEYS[4] .. ':' .. next_in_turn, ARGV[1])
end
return free
