-- Takes a fair lock, or a place in its queue, as it was before 3.32: who stands in it is told to look
-- again when its turn would come if everybody in front took the time that a waiter gets.
-- ARGV[1] time to live in milliseconds; ARGV[2] the holder; ARGV[3] the time a waiter gets; ARGV[4]
-- the time now. nil = granted, otherwise after how many milliseconds to look again.
drop_the_dead(ARGV[4])
if take(ARGV[1], ARGV[2], ARGV[3]) then
  return nil
end
local until_ms = redis.call('ZSCORE', KEYS[3], ARGV[2])
if until_ms then
  return tonumber(until_ms) - tonumber(ARGV[3]) - tonumber(ARGV[4])
end
return queue_up(ARGV[2], ARGV[3], ARGV[4], -1)
