-- Takes a fair lock, or a place in its queue.
-- KEYS[1] the hash; KEYS[2] the queue; KEYS[3] when each waiter is presumed dead. ARGV[1] time to
-- live in milliseconds; ARGV[2] the holder; ARGV[3] the time a waiter gets; ARGV[4] the time now.
-- nil = granted, otherwise after how many milliseconds to look again.
-- Who waits in front for longer than its time is presumed dead.
while true do
  local head = redis.call('LINDEX', KEYS[2], 0)
  if not head then
    break
  end
  local until_ms = redis.call('ZSCORE', KEYS[3], head)
  if not until_ms or tonumber(until_ms) > tonumber(ARGV[4]) then
    break
  end
  redis.call('ZREM', KEYS[3], head)
  redis.call('LPOP', KEYS[2])
end
local free = redis.call('EXISTS', KEYS[1]) == 0
local head = redis.call('LINDEX', KEYS[2], 0)
if free and (not head or head == ARGV[2]) then
  redis.call('LPOP', KEYS[2])
  redis.call('ZREM', KEYS[3], ARGV[2])
  -- Everybody else comes a turn earlier.
  for _, waiter in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    redis.call('ZINCRBY', KEYS[3], -tonumber(ARGV[3]), waiter)
  end
  redis.call('HSET', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
if redis.call('ZSCORE', KEYS[3], ARGV[2]) then
  return math.max(0, redis.call('PTTL', KEYS[1]))
end
local last = redis.call('LINDEX', KEYS[2], -1)
local before
if last and last ~= ARGV[2] then
  before = tonumber(redis.call('ZSCORE', KEYS[3], last)) - tonumber(ARGV[4])
else
  before = redis.call('PTTL', KEYS[1])
end
local until_ms = before + tonumber(ARGV[3]) + tonumber(ARGV[4])
if redis.call('ZADD', KEYS[3], until_ms, ARGV[2]) == 1 then
  redis.call('RPUSH', KEYS[2], ARGV[2])
end
return before
