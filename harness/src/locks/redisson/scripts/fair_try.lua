-- Takes a fair lock that is free and has no queue, or whose queue the caller leads; never queues.
-- ARGV[1] time to live in milliseconds; ARGV[2] the holder; ARGV[3] the time now; ARGV[4] the time
-- a waiter gets. nil = granted, 1 = refused.
drop_the_dead(ARGV[3])
if take(ARGV[1], ARGV[2], ARGV[4]) then
  return nil
end
return 1
