-- Gives permits back, whoever took them, and tells how many are free.
-- KEYS[1] the number of free permits; KEYS[2] the channel. ARGV[1] how many; ARGV[2] how to publish.
local free = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call(ARGV[2], KEYS[2], free)
return free
