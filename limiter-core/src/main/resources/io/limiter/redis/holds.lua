-- holds: permits of a fixed window or a token bucket that are reserved: records in a sorted set beside the state.
--
-- KEYS     after the key of the state that of its records. A record is the member
--          <id>:<permits>:<ttl us>:<keep us>:<window's end>, scored with its end in us; once it was found to have run
--          out
--          it is marked: scored 2^52 + until when it is kept. Of a bucket the member '' has what is held, as -1 - sum
-- ARGV 9   after the options of the algorithm 'holds=<most records>', of a reservation and a settlement also
--          ',ttl=<us>,keep=<us>'
-- RETURNS  as the algorithm; of a reservation stamp_us is the window's end, 0 of a bucket, -6 where it is denied
--          because
--          there are too many. Of a settlement stamp_us is 8 * the permits that were forgotten + what became of it:
--          0 no record, 1 settled, 2 settled after its end
-- EXPIRES  with the last record that is kept
-- TWIN     io/limiter/inprocess/HoldSet.java
--
-- A call is admitted by a bucket that has what it needs and all that is held; a reservation takes nothing from it, and
-- a settlement takes the actual cost. So plain calls, settlements and what is held are at most burst + rate * time, but
-- for what settlements cost above their reservations: a debt, which is paid before the next call is admitted.
-- [holds]
local MARKED, PORTION = 4503599627370496, 50

local function text(number) return string.format('%.0f', number) end

local function first_record(c, from, to)
  local one = redis.call('ZRANGEBYSCORE', c.records, from, to, 'WITHSCORES', 'LIMIT', 0, 1)
  return one[1], tonumber(one[2] or '')
end

local function terms_of(member)
  local n, ttl, keep, window = string.match(member, '^%x+:(%d+):(%d+):(%d+):(%d+)$')
  return tonumber(n), tonumber(ttl), tonumber(keep), tonumber(window)
end

local function note_held(c, s)
  if s.held > 0 then
    redis.call('ZADD', c.records, text(-1 - s.held), '')
  else
    redis.call('ZREM', c.records, '')
  end
end

-- Frees what is held; false if the window in which it was counted is over.
local function free(c, s, n, window)
  if c.is_bucket then
    s.held = math.max(0, s.held - n)
  elseif s.count > 0 and s.stored == window then
    s.count, s.changed = math.max(0, s.count - n), true
  else
    return false
  end
  return true
end

-- Gives back what has run out, in a portion, the oldest first. A clock that stepped back lengthens nothing by more than
-- its own time once more.
local function tidy(c, s)
  local member, ends = first_record(c, 0, '(' .. text(MARKED))
  if not member then return end
  local _, ttl = terms_of(member)
  if ends > c.now and ends <= c.now + ttl then return end
  local scored, gone = {}, {}
  local records = redis.call('ZRANGEBYSCORE', c.records, 0, '(' .. text(MARKED), 'WITHSCORES', 'LIMIT', 0, PORTION)
  for i = 1, #records, 2 do
    member, ends = records[i], tonumber(records[i + 1])
    local n, own_ttl, keep, window = terms_of(member)
    local score = nil
    if ends <= c.now then
      free(c, s, n, window)
      if ends + keep > c.now then score = MARKED + ends + keep else gone[#gone + 1] = member end
    elseif ends > c.now + own_ttl then
      score = c.now + own_ttl
    else
      break
    end
    if score then
      scored[#scored + 1] = text(score)
      scored[#scored + 1] = member
    end
  end
  if #scored > 0 then redis.call('ZADD', c.records, unpack(scored)) end
  if #gone > 0 then redis.call('ZREM', c.records, unpack(gone)) end
  if c.is_bucket then note_held(c, s) end
end

-- How long until there is room for another record; nil if there is.
local function full(c)
  if redis.call('ZCOUNT', c.records, 0, '+inf') < c.most then return nil end
  local to = text(MARKED + (c.writes and c.now or -1))
  local old = redis.call('ZRANGEBYSCORE', c.records, text(MARKED), to, 'LIMIT', 0, PORTION)
  if #old > 0 then redis.call('ZREM', c.records, unpack(old)) end
  if redis.call('ZCOUNT', c.records, 0, '+inf') < c.most then return nil end
  local member, kept = first_record(c, text(MARKED), '+inf')
  if member then return math.max(1, kept - MARKED - c.now) end
  local ends
  member, ends = first_record(c, 0, '+inf')
  if not member then return c.ttl end
  local _, _, keep = terms_of(member)
  return math.max(1, ends + keep - c.now)
end

local function member_of(c, window)
  return table.concat({c.hold, text(c.n), text(c.ttl), text(c.keep), text(window)}, ':')
end

local function add_record(c, s)
  redis.call('ZADD', c.records, text(c.now + c.ttl), member_of(c, c.is_bucket and 0 or s.ends))
  if c.is_bucket then note_held(c, s) end
  -- A given clock may stand still, while that of Redis goes on: a minute more.
  local life = math.ceil((c.ttl + c.keep) / 1000) + (c.given and 60000 or 0)
  if redis.call('PTTL', c.records) < life then redis.call('PEXPIRE', c.records, text(life * 9 / 8)) end
end

-- How long until a bucket has so many permits beside what is held. Where only an end can help: after the last one, when
-- all is settled as it was reserved.
local function told(c, s, permits)
  local wanted, wait = (permits + s.held) * s.parts, s.from - c.now
  if permits + s.held <= c.burst then
    return wanted <= s.level and 0 or wait + math.ceil((wanted - s.level) / s.rate)
  end
  local last = redis.call('ZREVRANGEBYSCORE', c.records, '(' .. text(MARKED), 0, 'WITHSCORES', 'LIMIT', 0, 1)
  local left = math.max(0, (tonumber(last[2] or '') or 0) - c.now)
  local level = math.min(s.full, s.level + math.max(0, left - wait) * s.rate)
  return left + math.max(0, math.ceil((wanted - level) / s.rate))
end

-- What stands in for the functions of an algorithm, which are c.plain. c: as in the algorithm files, and what the
-- options
-- of holds say; hold: the id of a reservation or settlement; writes: whether the call may write.
local held = {}

function held.look(c, s)
  c.plain.look(c, s)
  s.reserved, s.wait = false, false
  s.held = c.is_bucket and -1 - (tonumber(redis.call('ZSCORE', c.records, '') or -1)) or 0
  if c.writes and c.n > 0 then tidy(c, s) end
end

function held.admits(c, s)
  local admits
  if c.is_bucket then
    admits = c.n <= c.burst and s.level >= (c.n + s.held) * s.parts
  else
    admits = c.plain.admits(c, s)
  end
  if admits and c.ttl then s.wait = full(c) end
  return admits and not s.wait
end

function held.take(c, s)
  s.reserved = c.mode == 'reserve'
  if s.reserved and c.is_bucket then
    s.held = s.held + c.n
  else
    c.plain.take(c, s)
  end
end

function held.write(c, s)
  if s.reserved then add_record(c, s) end
  if s.changed then c.plain.write(c, s) end
end

function held.back(c, s, stamp) return c.plain.back(c, s, stamp) end

function held.answer(c, s, allowed)
  local retry, remaining, next_us, reset, stamp = c.plain.answer(c, s, allowed)
  if s.held > 0 then
    remaining = math.max(0, math.floor(s.level / s.parts) - s.held)
    if retry ~= -1 then retry = allowed and 0 or told(c, s, c.n) end
    next_us, reset = told(c, s, math.min(c.burst, remaining + 1)), told(c, s, c.burst)
  end
  if s.reserved and c.is_bucket then stamp = 0 end
  if s.wait then retry, stamp = s.wait, -6 end
  return retry, remaining, next_us, reset, stamp
end

-- Charges what it has cost instead of what was reserved: at most the capacity above that, and no debt above it.
function held.settle(c, s, window, actual)
  local member = member_of(c, window)
  local score = tonumber(redis.call('ZSCORE', c.records, member) or '')
  if not score then return 0 end
  redis.call('ZREM', c.records, member)
  local is_open, stands, base, excess = score < MARKED, s.count and s.count > 0, 0, actual
  if is_open then
    excess = math.max(0, actual - c.n)
    if free(c, s, c.n, window) then base = math.min(actual, c.n) end
  end
  local capacity = c.is_bucket and c.burst or c.limit
  local room = c.is_bucket and capacity + math.floor(s.level / s.parts) or 2 * capacity - s.count
  local charged = math.min(base + math.min(excess, capacity), math.max(0, room))
  if charged > 0 and c.is_bucket then
    s.level, s.changed = s.level - charged * s.parts, true
  elseif charged > 0 then
    s.count, s.ends, s.changed = s.count + charged, stands and s.ends or s.latest, true
  end
  if c.is_bucket then note_held(c, s) end
  return (is_open and score > c.now and 1 or 2) + 8 * (base + excess - charged)
end
-- [/holds]
