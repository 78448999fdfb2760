-- sliding_list: an exact log of the permits admitted in (now - period, now], one stamp a permit, kept as a list.
--
-- It grew from the article's script, which drops the first time of a list once it is old. There the list
-- never expired, a lowered limit changed nothing, and the client's clock decided. Here the first live stamp is searched
-- for (stamps ascend), all before it are dropped, and the clock is the server's unless one is given.
--
-- KEYS[1]  the state: a list of stamps in microseconds, oldest first
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing,
--          'back:<stamp_us>' = refund  8 and 9 unused: ''. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time
--          used)}; of a refund allowed = something was given back
-- EXPIRES  at most 9/8 of a period after it was written; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/SlidingLogState.java
-- [algorithm]
-- The first index from low on whose stamp is later than a time, and that stamp; size when there is none. Galloping
-- search, then binary: what has expired is seldom much.
local function first_later(c, low, size, time)
  local high, step, found = size, 1, nil
  while low < high do
    local middle = math.min(low + step - 1, math.floor((low + high) / 2))
    local stamp = tonumber(redis.call('LINDEX', c.key, middle))
    if stamp > time then
      high, found = middle, stamp
    else
      low, step = middle + 1, step * 2
    end
  end
  return low, found
end

-- The log: the index of its first live stamp, how many are live, the first and last of these; how many are added.
-- s: of an earlier look at this limit in a batch, to be filled again, or nil.
local function look(c, s)
  s = s or {first = 0, live = 0, added = 0, head = 0, tail = 0, changed = false}
  local size, cut, first = redis.call('LLEN', c.key), c.now - c.period, 0
  s.first, s.live, s.added, s.changed = size, 0, 0, false
  if size == 0 then return s end
  local head = tonumber(redis.call('LINDEX', c.key, '0'))
  local tail = size == 1 and head or tonumber(redis.call('LINDEX', c.key, '-1'))
  if tail <= cut then return s end
  if head <= cut then first, head = first_later(c, 1, size, cut) end
  -- A clock that stepped back: what is later than now is now.
  s.first, s.live, s.head, s.tail, s.changed = first, size - first, head, tail, tail > c.now
  return s
end

local function admits(c, s) return s.live + s.added + c.n <= c.limit end

local function take(c, s) s.added, s.changed = s.added + c.n, true end

-- Adds what was taken; drops the stamps that have expired, and moves those that are later than now. The list is never
-- empty in between: in a slot of a cluster that moves, a key that is gone can't be written again.
local function write(c, s)
  local stored = s.first + s.live
  local keep = s.live > 0 and s.tail > c.now and first_later(c, s.first, stored, c.now) or stored
  local add = s.added + stored - keep
  if keep > s.first and (s.first > 0 or keep < stored) then redis.call('LTRIM', c.key, s.first, keep - 1) end
  if add == 1 then
    redis.call('RPUSH', c.key, c.now)
  else
    local stamps = {}
    for i = 1, math.min(add, 1000) do stamps[i] = c.now end
    for from = 1, add, 1000 do redis.call('RPUSH', c.key, unpack(stamps, 1, math.min(add - from + 1, 1000))) end
  end
  if keep == s.first and stored > 0 then redis.call('LTRIM', c.key, -add, -1) end
  -- Renewed each eighth of a period: a time to live costs as much as the stamp. A given clock may go slower.
  local life = math.ceil(c.period / 1000)
  if c.given or redis.call('PTTL', c.key) < life then redis.call('PEXPIRE', c.key, math.ceil(life * 9 / 8)) end
  s.head, s.tail = s.live > 0 and math.min(s.head, c.now) or c.now, s.added > 0 and c.now or math.min(s.tail, c.now)
  s.first, s.live, s.added = 0, s.live + s.added, 0
end

local function back(c, s, stamp)
  if stamp <= c.now - c.period or redis.call('LREM', c.key, c.n, stamp) == 0 then return false end
  look(c, s)
  return true
end

-- The i-th live stamp (from 0), with those to be added.
local function at(c, s, i)
  if i >= s.live then return c.now end
  -- Nil where PEXPIRE has found that the time was over already: a period of a millisecond or two.
  return math.min(i == 0 and s.head or tonumber(redis.call('LINDEX', c.key, s.first + i)) or c.now, c.now)
end

local function answer(c, s, allowed)
  local count, until_us = s.live + s.added, c.period - c.now
  if count == 0 then return -1, c.limit, 0, 0, c.now end
  local over, newest = count + c.n - c.limit, s.added > 0 and c.now or math.min(s.tail, c.now)
  local retry = allowed and 0 or c.n > c.limit and -1 or over > 0 and at(c, s, over - 1) + until_us or 0
  local next_us = at(c, s, math.max(0, count - c.limit)) + until_us
  return retry, math.max(0, c.limit - count), next_us, newest + until_us, c.now
end
-- [/algorithm]

-- [call] The same lines in each file that runs alone: they read one call, decide it by the functions above, and answer.
local function whole(text, least)
  local value = tonumber(text or '')
  return value and value >= least and value < 2 ^ 53 and value % 1 == 0 and value
end

local args = ARGV
local given, mode, stamp = args[5] or '', args[7] or '', nil
local time = given == '' and redis.call('TIME')
local c = {key = KEYS[1], n = whole(args[1], 0), limit = whole(args[2], 0), period = whole(args[3], 1),
  burst = whole(args[4], 0), now = time and time[1] * 1000000 + time[2] or whole(given, 0), id = args[6] or '',
  options = args[9] or ''}
if not time then c.given = true end
if mode ~= '' then stamp = tonumber(string.match(mode, '^back:(%d+)$') or '') end
if not (c.key and c.n and c.limit and c.period and c.burst and c.now and (mode == '' or mode == 'look' or stamp)) then
  return redis.error_reply("ERR limiter: KEYS must be 1 key; ARGV 1 to 4 whole numbers: permits, limit, period_us (at"
    .. " least 1), burst; 5 '' or a whole number: now_us; 7 '', 'look' or 'back:<stamp_us>'")
end
-- A limit of 0 permits denies all, and has no state.
local s = c.limit > 0 and look(c)
local allowed, retry, remaining, next_us, reset, used = c.n == 0 and not stamp, -1, 0, 0, 0, c.now
if s and c.n > 0 then
  allowed = stamp and back(c, s, stamp) or not stamp and admits(c, s)
  if allowed and not stamp then take(c, s) end
  if s.changed and mode ~= 'look' then write(c, s) end
end
if s then retry, remaining, next_us, reset, used = answer(c, s, allowed) end
return {allowed and 1 or 0, remaining, (allowed or stamp) and 0 or retry, next_us, reset, used}
