-- Gives one permit back. One that has expired goes back as well, though its holder had lost it.
-- KEYS[1] the number of free permits; KEYS[2] the channel; KEYS[3] the permits that are out, by the time
-- of their end. ARGV[1] the permit's id; ARGV[2] how many; ARGV[3] the time now; ARGV[4] how to publish.
-- 1 = given back by its holder, 0 = it had expired, or had been taken back before.
local end_ms = redis.call('ZSCORE', KEYS[3], ARGV[1]) or math.huge
if redis.call('ZREM', KEYS[3], ARGV[1]) == 0 then
  return 0
end
redis.call(ARGV[4], KEYS[2], redis.call('INCRBY', KEYS[1], ARGV[2]))
if tonumber(end_ms) <= tonumber(ARGV[3]) then
  return 0
end
return 1
