-- What every script of a fair lock begins with.
-- KEYS[1] the hash; KEYS[2] the queue; KEYS[3] when each waiter is presumed dead.

-- Who waits in front for longer than its time is presumed dead, and loses its place.
local function drop_the_dead(now_ms)
  while true do
    local head = redis.call('LINDEX', KEYS[2], 0)
    local until_ms = head and redis.call('ZSCORE', KEYS[3], head)
    if not until_ms or tonumber(until_ms) > tonumber(now_ms) then
      return
    end
    redis.call('ZREM', KEYS[3], head)
    redis.call('LPOP', KEYS[2])
  end
end

-- Takes the lock, or takes it once more for who holds it already; true if it could be had.
local function take(lease_ms, holder, wait_ms)
  local head = redis.call('LINDEX', KEYS[2], 0)
  if redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == holder) then
    redis.call('LPOP', KEYS[2])
    redis.call('ZREM', KEYS[3], holder)
    -- Everybody else comes a turn earlier.
    for _, waiter in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
      redis.call('ZINCRBY', KEYS[3], -tonumber(wait_ms), waiter)
    end
  elseif redis.call('HEXISTS', KEYS[1], holder) == 0 then
    return false
  end
  redis.call('HINCRBY', KEYS[1], holder, 1)
  redis.call('PEXPIRE', KEYS[1], lease_ms)
  return true
end

-- Takes a place at the end of the queue, or keeps the one there is. The turn of who asks comes after
-- that of the waiter at `ahead`, or with the end of the lease; after how many milliseconds that is.
local function queue_up(holder, wait_ms, now_ms, ahead)
  local waiter = redis.call('LINDEX', KEYS[2], ahead)
  local dead_at_ms = waiter and waiter ~= holder and redis.call('ZSCORE', KEYS[3], waiter)
  local left_ms
  if dead_at_ms then
    left_ms = tonumber(dead_at_ms) - tonumber(now_ms)
  else
    left_ms = redis.call('PTTL', KEYS[1])
  end
  local until_ms = left_ms + tonumber(wait_ms) + tonumber(now_ms)
  if redis.call('ZADD', KEYS[3], until_ms, holder) == 1 then
    redis.call('RPUSH', KEYS[2], holder)
  end
  return left_ms
end

