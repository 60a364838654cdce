-- Leaves the queue of a fair lock, as it was in 3.10: only when the first one leaves does everybody
-- come a turn earlier.
-- KEYS[1] the queue; KEYS[2] when each waiter is presumed dead. ARGV[1] the holder; ARGV[2] the time
-- a waiter gets. 1 = left, 0 = was not there.
if redis.call('LINDEX', KEYS[1], 0) == ARGV[1] then
  for _, waiter in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    redis.call('ZINCRBY', KEYS[2], -tonumber(ARGV[2]), waiter)
  end
end
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('LREM', KEYS[1], 0, ARGV[1])
