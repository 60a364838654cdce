-- Keeps the read holds of everybody, as long as the caller has one: the dead are kept with the living.
-- So it was before 4.4.
-- KEYS[1] the hash; KEYS[2] what the hold keys of all begin with. ARGV[1] time to live in
-- milliseconds; ARGV[2] the holder. 1 = kept, 0 = not held any more.
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
for _, holder in ipairs(redis.call('HKEYS', KEYS[1])) do
  for hold = tonumber(redis.call('HGET', KEYS[1], holder)) or 0, 1, -1 do
    redis.call('PEXPIRE', KEYS[2] .. ':' .. holder .. ':rwlock_timeout:' .. hold, ARGV[1])
  end
end
return 1
