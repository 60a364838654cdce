-- Keeps the read holds of the caller.
-- KEYS[1] the hash; KEYS[2] the caller's hold keys. ARGV[1] time to live in milliseconds; ARGV[2] the
-- holder. 1 = kept, 0 = not held any more.
local count = tonumber(redis.call('HGET', KEYS[1], ARGV[2]))
if not count then
  return 0
end
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[1])))
for hold = count, 1, -1 do
  redis.call('PEXPIRE', KEYS[2] .. ':' .. hold, ARGV[1])
end
return 1
