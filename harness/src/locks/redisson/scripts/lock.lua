-- Takes the lock, or takes it once more for who holds it already.
-- KEYS[1] the hash; ARGV[1] time to live in milliseconds; ARGV[2] the holder.
-- nil = granted, otherwise the time to live of who holds it.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return nil
