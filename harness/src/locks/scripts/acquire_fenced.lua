-- Takes the lock if it is free, and counts.
-- KEYS[1] the lock's key; KEYS[2] the counter; ARGV[1] the caller's random value; ARGV[2] the lease
-- in milliseconds. 0 = held by another, otherwise the fencing token.
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 0
end
return redis.call('INCR', KEYS[2])
