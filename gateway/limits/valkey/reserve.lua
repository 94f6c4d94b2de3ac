-- Counts a request for all its holders if no limit of any of them would be passed, and otherwise in none. Nothing comes between,
-- because the server runs one script at a time.
-- KEYS: of each holder its minute, and its requests under way by the session of the process that has them.
-- ARGV: milliseconds since 1970 or nothing, the session, what the keys of sessions begin with, the tokens, and of each holder its
-- requests and tokens per minute and its requests at the same time; 0 = as many as come.
-- The answer: the second in which it was taken, or 0; the place of the holder that refuses, why, and for how many milliseconds; and
-- of each holder the requests and tokens in its minute.

local now, session, sessions, tokens = clock(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local minutes = {}
for index = 1, #KEYS, 2 do minutes[#minutes + 1] = KEYS[index] end
local second = currentSecond(now, minutes)

-- What a process had under way that has died is not counted any more.
local function underWay(key)
  local counts = redis.call('HGETALL', key)
  local sum = 0
  for index = 1, #counts, 2 do
    if redis.call('EXISTS', sessions .. counts[index]) == 1 then
      sum = sum + tonumber(counts[index + 1])
    else
      redis.call('HDEL', key, counts[index])
    end
  end
  return sum
end

local refusedBy, reason, waitMs = 0, '', 0
local used = {}
for place, minute in ipairs(minutes) do
  local requestsMax, tokensMax, concurrentMax = tonumber(ARGV[place * 3 + 2]), tonumber(ARGV[place * 3 + 3]), tonumber(ARGV[place * 3 + 4])
  advance(minute, second)
  local sums = redis.call('HMGET', minute, 'r', 't')
  local requestsUsed, tokensUsed = tonumber(sums[1] or 0), tonumber(sums[2] or 0)
  used[#used + 1] = requestsUsed
  used[#used + 1] = tokensUsed
  if refusedBy == 0 then
    if concurrentMax > 0 and underWay(KEYS[place * 2]) >= concurrentMax then
      refusedBy, reason = place, 'concurrent'
    elseif requestsMax > 0 and requestsUsed >= requestsMax then
      refusedBy, reason = place, 'requests'
      waitMs = freeAt(minute, 'r', second, requestsUsed, requestsMax - 1) * 1000 - now
    elseif tokensMax > 0 and (tokensUsed + tokens > tokensMax or tokensUsed >= tokensMax) then
      refusedBy, reason = place, 'tokens'
      waitMs = freeAt(minute, 't', second, tokensUsed, tokensMax - math.max(tokens, 1)) * 1000 - now
    end
  end
end
if refusedBy > 0 then return { 0, refusedBy, reason, waitMs, unpack(used) } end

for place, minute in ipairs(minutes) do
  add(minute, 'r', second, 1)
  add(minute, 't', second, tokens)
  used[place * 2 - 1] = used[place * 2 - 1] + 1
  used[place * 2] = used[place * 2] + tokens
  redis.call('HINCRBY', KEYS[place * 2], session, 1)
  -- It empties by itself, unless a process dies and nobody asks again.
  redis.call('EXPIRE', KEYS[place * 2], 86400)
end
return { second, 0, '', 0, unpack(used) }
