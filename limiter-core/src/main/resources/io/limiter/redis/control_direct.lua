-- Sets or removes a directive. KEYS: head, directives by revision, those in force by id, all by their end, audit. ARGV:
-- the head that the
-- publisher has seen, the new head, the record, its id, revision and end, how many there may be or -1 to remove it, the
-- line of
-- the audit, to which it adds what was. What has ended is dropped, two hundred at a time.
local now = redis.call('GET', KEYS[1]) or ''
if now ~= ARGV[1] then
  if now == ARGV[2] and redis.call('ZSCORE', KEYS[2], ARGV[3]) then return {'done'} end
  return {'other'}
end
for _, ended in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[5], 'LIMIT', 0, 200)) do
  local target, key = ended:match('^[^\t]*\t[^\t]*\t([^\t]*)\t([^\t]*)')
  redis.call('ZREM', KEYS[2], ended)
  redis.call('ZREM', KEYS[4], ended)
  if target and redis.call('HGET', KEYS[3], target .. ' ' .. key) == ended then
    redis.call('HDEL', KEYS[3], target .. ' ' .. key)
  end
end
local old = redis.call('HGET', KEYS[3], ARGV[4])
local most = tonumber(ARGV[7])
if not old and most < 0 then return {'none'} end
if not old and redis.call('HLEN', KEYS[3]) >= most then return {'full'} end
if old then
  redis.call('ZREM', KEYS[2], old)
  redis.call('ZREM', KEYS[4], old)
  redis.call('HDEL', KEYS[3], ARGV[4])
end
if most >= 0 then redis.call('HSET', KEYS[3], ARGV[4], ARGV[3]) end
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[3])
redis.call('ZADD', KEYS[4], ARGV[6], ARGV[3])
redis.call('SET', KEYS[1], ARGV[2])
redis.call('LPUSH', KEYS[5], ARGV[8] .. (old or 'nothing'))
redis.call('LTRIM', KEYS[5], 0, 999)
return {'done'}
