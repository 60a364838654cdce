-- Gives one write hold back; a writer that still reads goes on as a reader, and nobody is woken.
-- KEYS[1] the hash; KEYS[2] the channel; KEYS[3] the latch, if the era has one. ARGV[1] the message;
-- ARGV[2] time to live in milliseconds; ARGV[3] the holder as a writer; ARGV[4] how to publish;
-- ARGV[5] time to live of the latch. 1 = given back, 0 = still held, nil = not the caller's.
local done = KEYS[3] and redis.call('GET', KEYS[3])
if done then
  return tonumber(done)
end
local mode = redis.call('HGET', KEYS[1], 'mode')
if not mode then
  redis.call(ARGV[4], KEYS[2], ARGV[1])
  if not KEYS[3] then
    -- Eras without a latch take what has expired for given back.
    return 1
  end
  redis.call('SET', KEYS[3], 1, 'PX', ARGV[5])
  return nil
end
if mode ~= 'write' or redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return nil
end
local back = 1
if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  back = 0
else
  redis.call('HDEL', KEYS[1], ARGV[3])
  if redis.call('HLEN', KEYS[1]) == 1 then
    redis.call('DEL', KEYS[1])
    redis.call(ARGV[4], KEYS[2], ARGV[1])
  else
    redis.call('HSET', KEYS[1], 'mode', 'read')
  end
end
if KEYS[3] then
  redis.call('SET', KEYS[3], back, 'PX', ARGV[5])
end
return back
