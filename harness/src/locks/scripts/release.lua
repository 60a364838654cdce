-- Gives the lock back only if it is still the caller's.
-- KEYS[1] the lock's key; ARGV[1] the caller's random value. 1 = given back, 0 = not the caller's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
