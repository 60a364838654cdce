-- Takes permits if there are as many.
-- KEYS[1] the number of free permits. ARGV[1] how many. 1 = taken, 0 = refused.
local free = redis.call('GET', KEYS[1])
if free and tonumber(free) >= tonumber(ARGV[1]) then
  redis.call('DECRBY', KEYS[1], ARGV[1])
  return 1
end
return 0
