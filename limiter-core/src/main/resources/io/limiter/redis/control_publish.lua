-- Publishes a text, or asks about one. KEYS: head, text, audit, the text that is dropped. ARGV: the head that the
-- publisher has seen,
-- the new head, the record, the line of the audit.
local now = redis.call('GET', KEYS[1]) or ''
if now ~= ARGV[1] then
  -- The answer to this command was lost, and it came again.
  if now == ARGV[2] and redis.call('GET', KEYS[2]) == ARGV[3] then return {'done'} end
  return {'other'}
end
redis.call('SET', KEYS[2], ARGV[3])
redis.call('SET', KEYS[1], ARGV[2])
if ARGV[4] ~= '' then
  redis.call('LPUSH', KEYS[3], ARGV[4])
  redis.call('LTRIM', KEYS[3], 0, 999)
  redis.call('DEL', KEYS[4])
end
return {'done'}
