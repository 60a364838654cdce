-- Sets the number of permits, unless it is set already.
-- KEYS[1] the number of free permits; KEYS[2] the channel. ARGV[1] how many; ARGV[2] how to publish.
-- 1 = set, 0 = was set before.
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call(ARGV[2], KEYS[2], ARGV[1])
return 1
