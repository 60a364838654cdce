-- Leaves the queue of a fair lock; everybody behind comes a turn earlier.
-- KEYS[1] the queue; KEYS[2] when each waiter is presumed dead. ARGV[1] the holder; ARGV[2] the time
-- a waiter gets. 1 = left, 0 = was not there.
local waiters = redis.call('LRANGE', KEYS[1], 0, -1)
local behind = false
for _, waiter in ipairs(waiters) do
  if behind then
    redis.call('ZINCRBY', KEYS[2], -tonumber(ARGV[2]), waiter)
  elseif waiter == ARGV[1] then
    behind = true
  end
end
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('LREM', KEYS[1], 0, ARGV[1])
