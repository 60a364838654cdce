-- Extends the lease only if the lock is still the caller's; a missing key is not made again.
-- KEYS[1] the lock's key; ARGV[1] the caller's random value; ARGV[2] the lease in milliseconds.
-- 1 = extended, 0 = not the caller's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
