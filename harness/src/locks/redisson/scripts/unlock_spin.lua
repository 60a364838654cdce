-- Gives the lock back once, and wakes nobody: waiters look for themselves.
-- KEYS[1] the hash; KEYS[2] the latch, if the era has one. ARGV[1] time to live in milliseconds;
-- ARGV[2] the holder; ARGV[3] time to live of the latch. 1 = free, 0 = still held, nil = not the
-- caller's.
local done = KEYS[2] and redis.call('GET', KEYS[2])
if done then
  return tonumber(done)
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
local free = 0
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
else
  redis.call('DEL', KEYS[1])
  free = 1
end
if KEYS[2] then
  redis.call('SET', KEYS[2], free, 'PX', ARGV[3])
end
return free
