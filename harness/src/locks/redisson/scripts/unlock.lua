-- Gives the lock back once. What this request did is remembered for a while under the latch, so
-- that a repetition of it does not give back twice; an era without one names no latch.
-- KEYS[1] the hash; KEYS[2] the channel; KEYS[3] the latch. ARGV[1] the message; ARGV[2] time to
-- live in milliseconds; ARGV[3] the holder; ARGV[4] how to publish; ARGV[5] time to live of the latch.
-- 1 = free, 0 = still held, nil = not the caller's.
local done = KEYS[3] and redis.call('GET', KEYS[3])
if done then
  return tonumber(done)
end
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then
  return nil
end
local free = 0
if redis.call('HINCRBY', KEYS[1], ARGV[3], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  redis.call('DEL', KEYS[1])
  redis.call(ARGV[4], KEYS[2], ARGV[1])
  free = 1
end
if KEYS[3] then
  redis.call('SET', KEYS[3], free, 'PX', ARGV[5])
end
return free
