-- The same, with a token that grows with every acquire, re-entries included.
-- KEYS[1] the hash; KEYS[2] the counter; ARGV[1] time to live in milliseconds; ARGV[2] the holder.
-- {-1, token} = granted, {time to live of who holds it, -1} otherwise.
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return {redis.call('PTTL', KEYS[1]), -1}
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {-1, redis.call('INCR', KEYS[2])}
