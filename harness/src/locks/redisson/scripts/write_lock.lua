-- Takes the write side. A writer that comes again adds to the time that is left.
-- KEYS[1] the hash. ARGV[1] time to live in milliseconds; ARGV[2] the holder as a writer.
-- nil = granted, otherwise the time to live of whoever holds it.
local mode = redis.call('HGET', KEYS[1], 'mode')
if not mode then
  redis.call('HSET', KEYS[1], 'mode', 'write', ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
if mode == 'write' and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) + tonumber(ARGV[1]))
  return nil
end
return redis.call('PTTL', KEYS[1])
