-- Takes a fair lock that is free and has no queue, or whose queue the caller leads; never queues.
-- KEYS[1] the hash; KEYS[2] the queue; KEYS[3] when each waiter is presumed dead. ARGV[1] time to
-- live in milliseconds; ARGV[2] the holder; ARGV[3] the time now; ARGV[4] the time a waiter gets.
-- nil = granted, 1 = refused.
-- Who waits in front for longer than its time is presumed dead.
while true do
  local head = redis.call('LINDEX', KEYS[2], 0)
  if not head then
    break
  end
  local until_ms = redis.call('ZSCORE', KEYS[3], head)
  if not until_ms or tonumber(until_ms) > tonumber(ARGV[3]) then
    break
  end
  redis.call('ZREM', KEYS[3], head)
  redis.call('LPOP', KEYS[2])
end
local free = redis.call('EXISTS', KEYS[1]) == 0
local head = redis.call('LINDEX', KEYS[2], 0)
if free and (not head or head == ARGV[2]) then
  redis.call('LPOP', KEYS[2])
  redis.call('ZREM', KEYS[3], ARGV[2])
  -- Everybody else comes a turn earlier.
  for _, waiter in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    redis.call('ZINCRBY', KEYS[3], -tonumber(ARGV[4]), waiter)
  end
  redis.call('HSET', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
return 1
