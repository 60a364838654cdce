-- Takes a fair lock, or a place in its queue.
-- ARGV[1] time to live in milliseconds; ARGV[2] the holder; ARGV[3] the time a waiter gets; ARGV[4]
-- the time now. nil = granted, otherwise after how many milliseconds to look again.
drop_the_dead(ARGV[4])
if take(ARGV[1], ARGV[2], ARGV[3]) then
  return nil
end
if redis.call('ZSCORE', KEYS[3], ARGV[2]) then
  return math.max(0, redis.call('PTTL', KEYS[1]))
end
return queue_up(ARGV[2], ARGV[3], ARGV[4], -1)
