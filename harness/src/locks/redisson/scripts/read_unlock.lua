-- Gives one read hold back. While others read, the hash lives as long as the longest of them.
-- KEYS[1] the hash; KEYS[2] the channel; KEYS[3] the caller's hold keys; KEYS[4] what the hold keys of
-- all begin with; KEYS[5] the latch, if the era has one. ARGV[1] the message; ARGV[2] the holder;
-- ARGV[3] how to publish; ARGV[4] time to live of the latch. 1 = free, 0 = still held, nil = not the
-- caller's.
local done = KEYS[5] and redis.call('GET', KEYS[5])
if done then
  return tonumber(done)
end
local mode = redis.call('HGET', KEYS[1], 'mode')
if not mode then
  redis.call(ARGV[3], KEYS[2], ARGV[1])
  if not KEYS[5] then
    -- Eras without a latch take what has expired for given back.
    return 1
  end
  redis.call('SET', KEYS[5], 1, 'PX', ARGV[4])
  return nil
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return nil
end
local count = redis.call('HINCRBY', KEYS[1], ARGV[2], -1)
if count == 0 then
  redis.call('HDEL', KEYS[1], ARGV[2])
end
redis.call('DEL', KEYS[3] .. ':' .. (count + 1))
if redis.call('HLEN', KEYS[1]) > 1 then
  local longest = -3
  for _, holder in ipairs(redis.call('HKEYS', KEYS[1])) do
    for hold = tonumber(redis.call('HGET', KEYS[1], holder)) or 0, 1, -1 do
      local left = redis.call('PTTL', KEYS[4] .. ':' .. holder .. ':rwlock_timeout:' .. hold)
      longest = math.max(longest, left)
    end
  end
  if longest > 0 then
    redis.call('PEXPIRE', KEYS[1], longest)
  end
  if longest > 0 or mode == 'write' then
    if KEYS[5] then
      redis.call('SET', KEYS[5], 0, 'PX', ARGV[4])
    end
    return 0
  end
end
redis.call('DEL', KEYS[1])
redis.call(ARGV[3], KEYS[2], ARGV[1])
if KEYS[5] then
  redis.call('SET', KEYS[5], 1, 'PX', ARGV[4])
end
return 1
