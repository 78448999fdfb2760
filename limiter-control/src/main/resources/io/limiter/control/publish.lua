-- Publishes a version. KEYS: head, its text, its change, the text before, the text that is dropped, and where there
-- is one, the override or switch that is dropped, and the one that is new. ARGV: the head that the publisher has seen,
-- the new head, the text, the change, for how many milliseconds what has ended is kept, the new entry or nothing, and
-- its end in milliseconds. A part that is absent has a key that does not exist.
local now = redis.call('GET', KEYS[1]) or ''
if now ~= ARGV[1] then
  -- The answer to this command may have been lost, and it came again. Somebody else's same text has another change.
  return {now == ARGV[2] and redis.call('GET', KEYS[3]) == ARGV[4] and 'done' or 'other'}
end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('SET', KEYS[2], ARGV[3])
redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5])
if KEYS[4] ~= KEYS[2] then redis.call('PEXPIRE', KEYS[4], ARGV[5]) end
redis.call('DEL', KEYS[5], KEYS[6])
if ARGV[6] ~= '' then redis.call('SET', KEYS[7], ARGV[6], 'PXAT', ARGV[7]) end
return {'done'}
