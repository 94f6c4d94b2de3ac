-- The sliding minute of a limit holder, as in `meter.ts`, in a hash that all processes share. `at`
-- is its newest second. `r` and `t` are the requests and tokens of the minute, `f` the part of its tokens that
-- requests in flight reserve. `r0` … `r59`, `t0` … `t59` and `f0` … `f59` are those of its seconds. The other scripts start with this text.

local minuteSeconds = 60

-- Returns milliseconds since 1970: the given time or the server's, which is the same for all processes.
local function clock(said)
  if said ~= '' then return tonumber(said) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- If a clock went back by up to a minute, the latest second of the holders is used for all of them. A minute
-- restarts if the clock went back further.
local function currentSecond(now, minutes)
  local read = math.floor(now / 1000)
  local second = read
  for _, minute in ipairs(minutes) do
    local at = tonumber(redis.call('HGET', minute, 'at') or 0)
    if at > read + minuteSeconds then redis.call('DEL', minute) else second = math.max(second, at) end
  end
  return second
end

local function amounts(minute, kind, from, to)
  local fields = {}
  for second = from, to do fields[#fields + 1] = kind .. (second % minuteSeconds) end
  return redis.call('HMGET', minute, unpack(fields)), fields
end

-- Moves the minute forward to `second`, and subtracts the requests and tokens that are no longer in it.
local function advance(minute, second)
  local at = tonumber(redis.call('HGET', minute, 'at') or second)
  if second > at then
    for _, kind in ipairs({ 'r', 't', 'f' }) do
      local gone, fields = amounts(minute, kind, math.max(at + 1, second - minuteSeconds + 1), second)
      local sum = 0
      for index = 1, #fields do sum = sum + tonumber(gone[index] or 0) end
      if sum ~= 0 then redis.call('HINCRBY', minute, kind, -sum) end
      redis.call('HDEL', minute, unpack(fields))
    end
  end
  redis.call('HSET', minute, 'at', second)
  redis.call('EXPIRE', minute, 2 * minuteSeconds)
end

-- A second never becomes negative, because a restart drops what is settled later.
local function add(minute, kind, second, amount)
  if amount < 0 then
    amount = math.max(amount, -tonumber(redis.call('HGET', minute, kind .. (second % minuteSeconds)) or 0))
  end
  redis.call('HINCRBY', minute, kind, amount)
  redis.call('HINCRBY', minute, kind .. (second % minuteSeconds), amount)
end

-- Returns the first second in which at most `most` of `used` is left, if nothing is added.
local function freeAt(minute, kind, second, used, most)
  local each = amounts(minute, kind, second - minuteSeconds + 1, second)
  local index = 0
  while used > most and index < minuteSeconds do
    index = index + 1
    used = used - tonumber(each[index] or 0)
  end
  return second + index
end
