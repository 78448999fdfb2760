
-- [call] The same lines in every algorithm file: one call, read from KEYS and ARGV. The up to six values a to f are the state, as look
-- returns it; each algorithm has its own names for them.
local number = tonumber
local key, n, limit, period, burst = KEYS[1], number(ARGV[1]), number(ARGV[2]), number(ARGV[3]), number(ARGV[4])
local max = 9007199254740991
if not (key and n and limit and period and burst and n >= 0 and n <= max and limit >= 0 and limit <= max and period > 0
    and period <= max and burst >= 0 and burst <= max and n % 1 + limit % 1 + period % 1 + burst % 1 == 0) then
  return redis.error_reply('ERR limiter: KEYS must be 1 key and ARGV[1..4] whole numbers: permits, limit, period_us'
    .. ' (at least 1), burst')
end
local now, id, mode = ARGV[5] or '', ARGV[6] or '', ARGV[7] or ''
if now == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = number(now)
  if not (now and now >= 0 and now <= max and now % 1 == 0) then
    return redis.error_reply("ERR limiter: ARGV[5] must be '' or a whole number: now_us")
  end
end
local request, options = ARGV[8] or '', ARGV[9] or ''
local take, stamp = mode == '', nil
if not take and mode ~= 'look' then
  stamp = number(string.match(mode, '^back:(%d+)$') or '')
  if not stamp then return redis.error_reply("ERR limiter: ARGV[7] must be '', 'look' or 'back:<stamp_us>'") end
end
if limit == 0 then
  return {n == 0 and not stamp and 1 or 0, 0, (n == 0 or stamp) and 0 or -1, 0, 0, now}
end
local raw
if options ~= '' and string.find(options, 'holds=', 1, true) then
  -- An ordinary call where there are no records is one of a policy without holds.
  local base, size = request == '' and string.match(options, '^(.-),?holds=%d+$'), kind == 'fixed' and 17 or kind == 'token-bucket' and 41
  if base and size then raw = redis.call('GET', key) elseif base then raw = redis.pcall('GET', key .. ':holds1') end
  if base and (not raw or type(raw) == 'string' and #raw <= (size or 0)) then
    options = base
  else
    local step = n > 0 and (take and 'take' or stamp and 'back') or 'look'
    local functions = {look, charge, write, settle, back, answer, held, kind, (ARGV[5] or '') ~= ''}
    local is_allowed, remaining, retry, next_us, reset, used
    local own, most, ttl, life, actual = terms(options)
    if own == '' and n > 0 and (take and ttl or actual) then
      is_allowed, used, remaining, next_us, reset =
        ordinary({functions, n, limit, period, burst}, key, now, request, stamp, actual, most, ttl, life)
      if is_allowed and stamp then return {1, 0, 0, 0, 0, used} end
    end
    if is_allowed == nil then
      if used == false then raw = used end
      is_allowed, remaining, retry, next_us, reset, used =
        held(functions, step, key, now, n, limit, period, burst, id, stamp, request, options, nil, raw)
    end
    if is_allowed ~= nil then
      return {is_allowed and not (stamp and n == 0) and 1 or 0, remaining, (is_allowed or stamp) and 0 or retry, next_us, reset, used}
    end
    raw, options = remaining, retry
  end
end
local a, b, c, d, e, f = look(key, now, n, limit, period, burst, id, request, options, raw)
local allowed = n == 0
if stamp then
  allowed = false
  if n > 0 then
    allowed, a, b, c, d, e, f = back(key, now, n, limit, period, burst, id, stamp, a, b, c, d, e, f, request, options)
  end
elseif n > 0 then
  local g, h, i, j, k, l = charge(now, n, limit, period, burst, a, b, c, d, e, f, options)
  if g then
    allowed, a, b, c, d, e, f = true, g, h, i, j, k, l
    if take then a, b, c, d, e, f = write(key, now, n, limit, period, burst, id, a, b, c, d, e, f, request, options) end
  elseif take then
    -- A denied call takes nothing, but the times in its answer hold only if a clock that stepped back, or a changed limit,
    -- applies from now on.
    a, b, c, d, e, f = settle(key, now, n, limit, period, burst, id, a, b, c, d, e, f, request, options)
  end
end
local retry, remaining, next_us, reset, used = answer(key, now, n, limit, period, burst, allowed, a, b, c, d, e, f, options)
return {allowed and 1 or 0, remaining, (allowed or stamp) and 0 or retry, next_us, reset, used}
