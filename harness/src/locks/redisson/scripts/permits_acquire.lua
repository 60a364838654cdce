-- Takes permits that expire. First takes back as many as are asked for of those that have.
-- KEYS[1] the number of free permits; KEYS[2] the permits that are out, by the time of their end;
-- KEYS[3] the channel. ARGV[1] how many; ARGV[2] when they end; ARGV[3] the time now; ARGV[4] the time
-- that means never; ARGV[5] how to publish; ARGV[6...] their ids.
-- OK = taken, ":" and the next end of a permit, or nil = refused.
local ended = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[3], 'LIMIT', 0, ARGV[1])
if #ended > 0 then
  redis.call('ZREM', KEYS[2], unpack(ended))
  local free = redis.call('INCRBY', KEYS[1], #ended)
  if free > 0 then
    redis.call(ARGV[5], KEYS[3], free)
  end
end
local free = redis.call('GET', KEYS[1])
if free and tonumber(free) >= tonumber(ARGV[1]) then
  redis.call('DECRBY', KEYS[1], ARGV[1])
  for i = 6, #ARGV do
    redis.call('ZADD', KEYS[2], ARGV[2], ARGV[i])
  end
  -- A semaphore that ends as a whole takes its permits with it.
  local left = redis.call('PTTL', KEYS[1])
  if left > 0 then
    redis.call('PEXPIRE', KEYS[2], left)
  end
  return 'OK'
end
local nearest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if nearest[1] and nearest[2] ~= ARGV[4] then
  return ':' .. nearest[2]
end
return nil
