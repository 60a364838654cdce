-- Takes the read side, as it was before 3.11.1: the lock lives as long as the last reader asks for, even
-- where others hold it for longer.
-- KEYS[1] the hash; KEYS[2] the caller's hold keys, to which a colon and a number are added. ARGV[1]
-- time to live in milliseconds; ARGV[2] the holder; ARGV[3] the holder as a writer.
-- nil = granted, otherwise the time to live of the writer.
local mode = redis.call('HGET', KEYS[1], 'mode')
if mode == 'write' and redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
if not mode then
  redis.call('HSET', KEYS[1], 'mode', 'read')
end
local count = redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('SET', KEYS[2] .. ':' .. count, 1, 'PX', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return nil
