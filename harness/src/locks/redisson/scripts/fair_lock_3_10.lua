-- Takes a fair lock, or a place in its queue, as it was in 3.10: everybody's time counts from that
-- of the first in the queue, anew with each look, and nobody comes a turn earlier.
-- ARGV[1] time to live in milliseconds; ARGV[2] the holder; ARGV[3] the time a waiter gets; ARGV[4]
-- the time now. nil = granted, otherwise after how many milliseconds to look again.
drop_the_dead(ARGV[4])
if take(ARGV[1], ARGV[2], 0) then
  return nil
end
return queue_up(ARGV[2], ARGV[3], ARGV[4], 0)
