-- Gives one permit back.
-- KEYS[1] the number of free permits; KEYS[2] the permits that are out; KEYS[3] the channel. ARGV[1] the
-- permit's id; ARGV[2] how to publish. 1 = given back, 0 = it had been taken back before.
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then
  return 0
end
redis.call(ARGV[2], KEYS[3], redis.call('INCRBY', KEYS[1], 1))
return 1
