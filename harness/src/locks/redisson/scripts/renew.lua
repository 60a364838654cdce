-- Keeps every lock that its holder still holds.
-- KEYS the hashes; ARGV[1] time to live in milliseconds; ARGV[i + 1] the holder of KEYS[i].
-- A list: 1 = kept, 0 = not held any more.
local kept = {}
for i, name in ipairs(KEYS) do
  if redis.call('HEXISTS', name, ARGV[i + 1]) == 1 then
    redis.call('PEXPIRE', name, ARGV[1])
    kept[i] = 1
  else
    kept[i] = 0
  end
end
return kept
