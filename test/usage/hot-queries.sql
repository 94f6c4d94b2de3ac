-- better-sqlite3

-- everybody's latest
SELECT * FROM usage_records NOT INDEXED WHERE id < ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- a key's latest
SELECT * FROM usage_records INDEXED BY usage_records_key WHERE api_key_id = ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- a key's next page
SELECT * FROM usage_records INDEXED BY usage_records_key WHERE api_key_id = ? AND id < ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- a member's latest
SELECT * FROM usage_records INDEXED BY usage_records_owner WHERE owner_id = ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- a member's key
SELECT * FROM usage_records INDEXED BY usage_records_key WHERE owner_id = ? AND api_key_id = ? AND id >= ? AND id < ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- failures of a time
SELECT * FROM usage_records INDEXED BY usage_records_status WHERE status = ? AND id >= ? AND id < ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- a model's
SELECT * FROM usage_records INDEXED BY usage_records_model WHERE model = ? AND id >= ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- a provider's
SELECT * FROM usage_records INDEXED BY usage_records_provider WHERE provider = ? AND id < ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- a key's failures with a model
SELECT * FROM usage_records INDEXED BY usage_records_key WHERE api_key_id = ? AND model = ? AND status = ? AND id >= ? AND id < ? AND in_time(?) ORDER BY id DESC LIMIT 51;

-- where a filter with several conditions has anything
SELECT starts_at, SUM(requests) AS requests FROM usage_roll_ups INDEXED BY usage_roll_ups_key WHERE api_key_id = ? AND status = ? AND resolution = ? AND starts_at < ? AND in_time(?) GROUP BY starts_at ORDER BY starts_at DESC LIMIT 400;

-- how many records meet one condition
SELECT SUM(requests) AS requests FROM usage_roll_ups INDEXED BY usage_roll_ups_key WHERE status = ? AND api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? AND in_time(?);

-- sums of days
SELECT model AS model, CAST(SUM(requests) AS TEXT) AS requests, CAST(SUM(input_tokens) AS TEXT) AS inputTokens, CAST(SUM(output_tokens) AS TEXT) AS outputTokens, CAST(SUM(cached_input_tokens) AS TEXT) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS TEXT) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS TEXT) AS reasoningTokens, CAST(SUM(cost) AS TEXT) AS cost, CAST(SUM(unknown_costs) AS TEXT) AS unknownCosts, CAST(SUM(latency_ms) AS TEXT) AS latencyMs, CAST(SUM(latency0) AS TEXT) AS latency0, CAST(SUM(latency1) AS TEXT) AS latency1, CAST(SUM(latency2) AS TEXT) AS latency2, CAST(SUM(latency3) AS TEXT) AS latency3, CAST(SUM(latency4) AS TEXT) AS latency4, CAST(SUM(latency5) AS TEXT) AS latency5, CAST(SUM(latency6) AS TEXT) AS latency6, CAST(SUM(latency7) AS TEXT) AS latency7, CAST(SUM(latency8) AS TEXT) AS latency8, CAST(SUM(latency9) AS TEXT) AS latency9 FROM usage_roll_ups INDEXED BY usage_roll_ups_key WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? AND in_time(?) GROUP BY model LIMIT 10001;

-- sums of keys
SELECT api_key_id AS apiKeyId, CAST(SUM(requests) AS TEXT) AS requests, CAST(SUM(input_tokens) AS TEXT) AS inputTokens, CAST(SUM(output_tokens) AS TEXT) AS outputTokens, CAST(SUM(cached_input_tokens) AS TEXT) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS TEXT) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS TEXT) AS reasoningTokens, CAST(SUM(cost) AS TEXT) AS cost, CAST(SUM(unknown_costs) AS TEXT) AS unknownCosts, CAST(SUM(latency_ms) AS TEXT) AS latencyMs, CAST(SUM(latency0) AS TEXT) AS latency0, CAST(SUM(latency1) AS TEXT) AS latency1, CAST(SUM(latency2) AS TEXT) AS latency2, CAST(SUM(latency3) AS TEXT) AS latency3, CAST(SUM(latency4) AS TEXT) AS latency4, CAST(SUM(latency5) AS TEXT) AS latency5, CAST(SUM(latency6) AS TEXT) AS latency6, CAST(SUM(latency7) AS TEXT) AS latency7, CAST(SUM(latency8) AS TEXT) AS latency8, CAST(SUM(latency9) AS TEXT) AS latency9, MAX(api_key_name) AS apiKeyName FROM usage_roll_ups NOT INDEXED WHERE api_key_id <> ? AND resolution = ? AND starts_at >= ? AND starts_at < ? AND in_time(?) GROUP BY api_key_id LIMIT 10001;

-- the month's chart
SELECT SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS TEXT) AS requests, CAST(SUM(input_tokens) AS TEXT) AS inputTokens, CAST(SUM(output_tokens) AS TEXT) AS outputTokens, CAST(SUM(cached_input_tokens) AS TEXT) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS TEXT) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS TEXT) AS reasoningTokens, CAST(SUM(cost) AS TEXT) AS cost, CAST(SUM(unknown_costs) AS TEXT) AS unknownCosts, CAST(SUM(latency_ms) AS TEXT) AS latencyMs, CAST(SUM(latency0) AS TEXT) AS latency0, CAST(SUM(latency1) AS TEXT) AS latency1, CAST(SUM(latency2) AS TEXT) AS latency2, CAST(SUM(latency3) AS TEXT) AS latency3, CAST(SUM(latency4) AS TEXT) AS latency4, CAST(SUM(latency5) AS TEXT) AS latency5, CAST(SUM(latency6) AS TEXT) AS latency6, CAST(SUM(latency7) AS TEXT) AS latency7, CAST(SUM(latency8) AS TEXT) AS latency8, CAST(SUM(latency9) AS TEXT) AS latency9 FROM usage_roll_ups INDEXED BY usage_roll_ups_key WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? AND in_time(?) GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- the day's hours
SELECT SUBSTR(starts_at, 1, 13) AS starts_at, model AS model, CAST(SUM(requests) AS TEXT) AS requests, CAST(SUM(input_tokens) AS TEXT) AS inputTokens, CAST(SUM(output_tokens) AS TEXT) AS outputTokens, CAST(SUM(cached_input_tokens) AS TEXT) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS TEXT) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS TEXT) AS reasoningTokens, CAST(SUM(cost) AS TEXT) AS cost, CAST(SUM(unknown_costs) AS TEXT) AS unknownCosts, CAST(SUM(latency_ms) AS TEXT) AS latencyMs, CAST(SUM(latency0) AS TEXT) AS latency0, CAST(SUM(latency1) AS TEXT) AS latency1, CAST(SUM(latency2) AS TEXT) AS latency2, CAST(SUM(latency3) AS TEXT) AS latency3, CAST(SUM(latency4) AS TEXT) AS latency4, CAST(SUM(latency5) AS TEXT) AS latency5, CAST(SUM(latency6) AS TEXT) AS latency6, CAST(SUM(latency7) AS TEXT) AS latency7, CAST(SUM(latency8) AS TEXT) AS latency8, CAST(SUM(latency9) AS TEXT) AS latency9 FROM usage_roll_ups INDEXED BY usage_roll_ups_key WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? AND in_time(?) GROUP BY SUBSTR(starts_at, 1, 13), model LIMIT 10001;

-- a key's chart
SELECT SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS TEXT) AS requests, CAST(SUM(input_tokens) AS TEXT) AS inputTokens, CAST(SUM(output_tokens) AS TEXT) AS outputTokens, CAST(SUM(cached_input_tokens) AS TEXT) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS TEXT) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS TEXT) AS reasoningTokens, CAST(SUM(cost) AS TEXT) AS cost, CAST(SUM(unknown_costs) AS TEXT) AS unknownCosts, CAST(SUM(latency_ms) AS TEXT) AS latencyMs, CAST(SUM(latency0) AS TEXT) AS latency0, CAST(SUM(latency1) AS TEXT) AS latency1, CAST(SUM(latency2) AS TEXT) AS latency2, CAST(SUM(latency3) AS TEXT) AS latency3, CAST(SUM(latency4) AS TEXT) AS latency4, CAST(SUM(latency5) AS TEXT) AS latency5, CAST(SUM(latency6) AS TEXT) AS latency6, CAST(SUM(latency7) AS TEXT) AS latency7, CAST(SUM(latency8) AS TEXT) AS latency8, CAST(SUM(latency9) AS TEXT) AS latency9 FROM usage_roll_ups INDEXED BY usage_roll_ups_key WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? AND in_time(?) GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- a member's chart
SELECT SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS TEXT) AS requests, CAST(SUM(input_tokens) AS TEXT) AS inputTokens, CAST(SUM(output_tokens) AS TEXT) AS outputTokens, CAST(SUM(cached_input_tokens) AS TEXT) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS TEXT) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS TEXT) AS reasoningTokens, CAST(SUM(cost) AS TEXT) AS cost, CAST(SUM(unknown_costs) AS TEXT) AS unknownCosts, CAST(SUM(latency_ms) AS TEXT) AS latencyMs, CAST(SUM(latency0) AS TEXT) AS latency0, CAST(SUM(latency1) AS TEXT) AS latency1, CAST(SUM(latency2) AS TEXT) AS latency2, CAST(SUM(latency3) AS TEXT) AS latency3, CAST(SUM(latency4) AS TEXT) AS latency4, CAST(SUM(latency5) AS TEXT) AS latency5, CAST(SUM(latency6) AS TEXT) AS latency6, CAST(SUM(latency7) AS TEXT) AS latency7, CAST(SUM(latency8) AS TEXT) AS latency8, CAST(SUM(latency9) AS TEXT) AS latency9 FROM usage_roll_ups INDEXED BY usage_roll_ups_owner WHERE owner_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? AND in_time(?) GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- what keys have spent
SELECT api_key_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups INDEXED BY usage_roll_ups_key WHERE api_key_id IN (?, ?) AND resolution = ? GROUP BY api_key_id, starts_at;

-- what a person has spent this month
SELECT owner_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups INDEXED BY usage_roll_ups_owner WHERE owner_id IN (?) AND resolution = ? AND starts_at >= ? GROUP BY owner_id, starts_at;

-- what all keys have spent this month
SELECT api_key_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups INDEXED BY usage_roll_ups_key WHERE api_key_id IN (?) AND resolution = ? AND starts_at >= ? GROUP BY api_key_id, starts_at;

-- sums of a part of an hour
SELECT model AS model, CAST(COUNT(*) AS TEXT) AS requests, CAST(SUM(input_tokens) AS TEXT) AS inputTokens, CAST(SUM(output_tokens) AS TEXT) AS outputTokens, CAST(SUM(cached_input_tokens) AS TEXT) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS TEXT) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS TEXT) AS reasoningTokens, CAST(SUM(cost) AS TEXT) AS cost, CAST(COUNT(*) - COUNT(cost) AS TEXT) AS unknownCosts, CAST(SUM(latency_ms) AS TEXT) AS latencyMs, CAST(SUM(CASE WHEN latency_ms <= 250 THEN 1 ELSE 0 END) AS TEXT) AS latency0, CAST(SUM(CASE WHEN latency_ms > 250 AND latency_ms <= 500 THEN 1 ELSE 0 END) AS TEXT) AS latency1, CAST(SUM(CASE WHEN latency_ms > 500 AND latency_ms <= 1000 THEN 1 ELSE 0 END) AS TEXT) AS latency2, CAST(SUM(CASE WHEN latency_ms > 1000 AND latency_ms <= 2000 THEN 1 ELSE 0 END) AS TEXT) AS latency3, CAST(SUM(CASE WHEN latency_ms > 2000 AND latency_ms <= 4000 THEN 1 ELSE 0 END) AS TEXT) AS latency4, CAST(SUM(CASE WHEN latency_ms > 4000 AND latency_ms <= 8000 THEN 1 ELSE 0 END) AS TEXT) AS latency5, CAST(SUM(CASE WHEN latency_ms > 8000 AND latency_ms <= 16000 THEN 1 ELSE 0 END) AS TEXT) AS latency6, CAST(SUM(CASE WHEN latency_ms > 16000 AND latency_ms <= 32000 THEN 1 ELSE 0 END) AS TEXT) AS latency7, CAST(SUM(CASE WHEN latency_ms > 32000 AND latency_ms <= 64000 THEN 1 ELSE 0 END) AS TEXT) AS latency8, CAST(SUM(CASE WHEN latency_ms > 64000 THEN 1 ELSE 0 END) AS TEXT) AS latency9 FROM usage_records NOT INDEXED WHERE id >= ? AND id < ? AND in_time(?) GROUP BY model LIMIT 10001;

-- a key's sums of a part of an hour
SELECT model AS model, CAST(COUNT(*) AS TEXT) AS requests, CAST(SUM(input_tokens) AS TEXT) AS inputTokens, CAST(SUM(output_tokens) AS TEXT) AS outputTokens, CAST(SUM(cached_input_tokens) AS TEXT) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS TEXT) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS TEXT) AS reasoningTokens, CAST(SUM(cost) AS TEXT) AS cost, CAST(COUNT(*) - COUNT(cost) AS TEXT) AS unknownCosts, CAST(SUM(latency_ms) AS TEXT) AS latencyMs, CAST(SUM(CASE WHEN latency_ms <= 250 THEN 1 ELSE 0 END) AS TEXT) AS latency0, CAST(SUM(CASE WHEN latency_ms > 250 AND latency_ms <= 500 THEN 1 ELSE 0 END) AS TEXT) AS latency1, CAST(SUM(CASE WHEN latency_ms > 500 AND latency_ms <= 1000 THEN 1 ELSE 0 END) AS TEXT) AS latency2, CAST(SUM(CASE WHEN latency_ms > 1000 AND latency_ms <= 2000 THEN 1 ELSE 0 END) AS TEXT) AS latency3, CAST(SUM(CASE WHEN latency_ms > 2000 AND latency_ms <= 4000 THEN 1 ELSE 0 END) AS TEXT) AS latency4, CAST(SUM(CASE WHEN latency_ms > 4000 AND latency_ms <= 8000 THEN 1 ELSE 0 END) AS TEXT) AS latency5, CAST(SUM(CASE WHEN latency_ms > 8000 AND latency_ms <= 16000 THEN 1 ELSE 0 END) AS TEXT) AS latency6, CAST(SUM(CASE WHEN latency_ms > 16000 AND latency_ms <= 32000 THEN 1 ELSE 0 END) AS TEXT) AS latency7, CAST(SUM(CASE WHEN latency_ms > 32000 AND latency_ms <= 64000 THEN 1 ELSE 0 END) AS TEXT) AS latency8, CAST(SUM(CASE WHEN latency_ms > 64000 THEN 1 ELSE 0 END) AS TEXT) AS latency9 FROM usage_records INDEXED BY usage_records_key WHERE api_key_id = ? AND id >= ? AND id < ? AND in_time(?) GROUP BY model LIMIT 10001;

-- mariadb

-- everybody's latest
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (PRIMARY) WHERE id < ? ORDER BY id DESC LIMIT 51;

-- a key's latest
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (usage_records_key) WHERE api_key_id = ? ORDER BY id DESC LIMIT 51;

-- a key's next page
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (usage_records_key) WHERE api_key_id = ? AND id < ? ORDER BY id DESC LIMIT 51;

-- a member's latest
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (usage_records_owner) WHERE owner_id = ? ORDER BY id DESC LIMIT 51;

-- a member's key
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (usage_records_key) WHERE owner_id = ? AND api_key_id = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT 51;

-- failures of a time
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (usage_records_status) WHERE status = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT 51;

-- a model's
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (usage_records_model) WHERE model = ? AND id >= ? ORDER BY id DESC LIMIT 51;

-- a provider's
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (usage_records_provider) WHERE provider = ? AND id < ? ORDER BY id DESC LIMIT 51;

-- a key's failures with a model
SET STATEMENT max_statement_time=2 FOR SELECT * FROM usage_records FORCE INDEX (usage_records_key) WHERE api_key_id = ? AND model = ? AND status = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT 51;

-- where a filter with several conditions has anything
SET STATEMENT max_statement_time=2 FOR SELECT starts_at, SUM(requests) AS requests FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND status = ? AND resolution = ? AND starts_at < ? GROUP BY starts_at ORDER BY starts_at DESC LIMIT 400;

-- how many records meet one condition
SET STATEMENT max_statement_time=2 FOR SELECT SUM(requests) AS requests FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE status = ? AND api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ?;

-- sums of days
SET STATEMENT max_statement_time=2 FOR SELECT model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY model LIMIT 10001;

-- sums of keys
SET STATEMENT max_statement_time=2 FOR SELECT api_key_id AS apiKeyId, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9, MAX(api_key_name) AS apiKeyName FROM usage_roll_ups FORCE INDEX (PRIMARY) WHERE api_key_id <> ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY api_key_id LIMIT 10001;

-- the month's chart
SET STATEMENT max_statement_time=2 FOR SELECT SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- the day's hours
SET STATEMENT max_statement_time=2 FOR SELECT SUBSTR(starts_at, 1, 13) AS starts_at, model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY SUBSTR(starts_at, 1, 13), model LIMIT 10001;

-- a key's chart
SET STATEMENT max_statement_time=2 FOR SELECT SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- a member's chart
SET STATEMENT max_statement_time=2 FOR SELECT SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_owner) WHERE owner_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- what keys have spent
SELECT api_key_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id IN (?, ?) AND resolution = ? GROUP BY api_key_id, starts_at;

-- what a person has spent this month
SELECT owner_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups FORCE INDEX (usage_roll_ups_owner) WHERE owner_id IN (?) AND resolution = ? AND starts_at >= ? GROUP BY owner_id, starts_at;

-- what all keys have spent this month
SELECT api_key_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id IN (?) AND resolution = ? AND starts_at >= ? GROUP BY api_key_id, starts_at;

-- sums of a part of an hour
SET STATEMENT max_statement_time=2 FOR SELECT model AS model, CAST(COUNT(*) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(COUNT(*) - COUNT(cost) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(CASE WHEN latency_ms <= 250 THEN 1 ELSE 0 END) AS CHAR) AS latency0, CAST(SUM(CASE WHEN latency_ms > 250 AND latency_ms <= 500 THEN 1 ELSE 0 END) AS CHAR) AS latency1, CAST(SUM(CASE WHEN latency_ms > 500 AND latency_ms <= 1000 THEN 1 ELSE 0 END) AS CHAR) AS latency2, CAST(SUM(CASE WHEN latency_ms > 1000 AND latency_ms <= 2000 THEN 1 ELSE 0 END) AS CHAR) AS latency3, CAST(SUM(CASE WHEN latency_ms > 2000 AND latency_ms <= 4000 THEN 1 ELSE 0 END) AS CHAR) AS latency4, CAST(SUM(CASE WHEN latency_ms > 4000 AND latency_ms <= 8000 THEN 1 ELSE 0 END) AS CHAR) AS latency5, CAST(SUM(CASE WHEN latency_ms > 8000 AND latency_ms <= 16000 THEN 1 ELSE 0 END) AS CHAR) AS latency6, CAST(SUM(CASE WHEN latency_ms > 16000 AND latency_ms <= 32000 THEN 1 ELSE 0 END) AS CHAR) AS latency7, CAST(SUM(CASE WHEN latency_ms > 32000 AND latency_ms <= 64000 THEN 1 ELSE 0 END) AS CHAR) AS latency8, CAST(SUM(CASE WHEN latency_ms > 64000 THEN 1 ELSE 0 END) AS CHAR) AS latency9 FROM usage_records FORCE INDEX (PRIMARY) WHERE id >= ? AND id < ? GROUP BY model LIMIT 10001;

-- a key's sums of a part of an hour
SET STATEMENT max_statement_time=2 FOR SELECT model AS model, CAST(COUNT(*) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(COUNT(*) - COUNT(cost) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(CASE WHEN latency_ms <= 250 THEN 1 ELSE 0 END) AS CHAR) AS latency0, CAST(SUM(CASE WHEN latency_ms > 250 AND latency_ms <= 500 THEN 1 ELSE 0 END) AS CHAR) AS latency1, CAST(SUM(CASE WHEN latency_ms > 500 AND latency_ms <= 1000 THEN 1 ELSE 0 END) AS CHAR) AS latency2, CAST(SUM(CASE WHEN latency_ms > 1000 AND latency_ms <= 2000 THEN 1 ELSE 0 END) AS CHAR) AS latency3, CAST(SUM(CASE WHEN latency_ms > 2000 AND latency_ms <= 4000 THEN 1 ELSE 0 END) AS CHAR) AS latency4, CAST(SUM(CASE WHEN latency_ms > 4000 AND latency_ms <= 8000 THEN 1 ELSE 0 END) AS CHAR) AS latency5, CAST(SUM(CASE WHEN latency_ms > 8000 AND latency_ms <= 16000 THEN 1 ELSE 0 END) AS CHAR) AS latency6, CAST(SUM(CASE WHEN latency_ms > 16000 AND latency_ms <= 32000 THEN 1 ELSE 0 END) AS CHAR) AS latency7, CAST(SUM(CASE WHEN latency_ms > 32000 AND latency_ms <= 64000 THEN 1 ELSE 0 END) AS CHAR) AS latency8, CAST(SUM(CASE WHEN latency_ms > 64000 THEN 1 ELSE 0 END) AS CHAR) AS latency9 FROM usage_records FORCE INDEX (usage_records_key) WHERE api_key_id = ? AND id >= ? AND id < ? GROUP BY model LIMIT 10001;

-- mysql

-- everybody's latest
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (PRIMARY) WHERE id < ? ORDER BY id DESC LIMIT 51;

-- a key's latest
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (usage_records_key) WHERE api_key_id = ? ORDER BY id DESC LIMIT 51;

-- a key's next page
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (usage_records_key) WHERE api_key_id = ? AND id < ? ORDER BY id DESC LIMIT 51;

-- a member's latest
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (usage_records_owner) WHERE owner_id = ? ORDER BY id DESC LIMIT 51;

-- a member's key
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (usage_records_key) WHERE owner_id = ? AND api_key_id = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT 51;

-- failures of a time
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (usage_records_status) WHERE status = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT 51;

-- a model's
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (usage_records_model) WHERE model = ? AND id >= ? ORDER BY id DESC LIMIT 51;

-- a provider's
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (usage_records_provider) WHERE provider = ? AND id < ? ORDER BY id DESC LIMIT 51;

-- a key's failures with a model
SELECT /*+ MAX_EXECUTION_TIME(2000) */ * FROM usage_records FORCE INDEX (usage_records_key) WHERE api_key_id = ? AND model = ? AND status = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT 51;

-- where a filter with several conditions has anything
SELECT /*+ MAX_EXECUTION_TIME(2000) */ starts_at, SUM(requests) AS requests FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND status = ? AND resolution = ? AND starts_at < ? GROUP BY starts_at ORDER BY starts_at DESC LIMIT 400;

-- how many records meet one condition
SELECT /*+ MAX_EXECUTION_TIME(2000) */ SUM(requests) AS requests FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE status = ? AND api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ?;

-- sums of days
SELECT /*+ MAX_EXECUTION_TIME(2000) */ model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY model LIMIT 10001;

-- sums of keys
SELECT /*+ MAX_EXECUTION_TIME(2000) */ api_key_id AS apiKeyId, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9, MAX(api_key_name) AS apiKeyName FROM usage_roll_ups FORCE INDEX (PRIMARY) WHERE api_key_id <> ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY api_key_id LIMIT 10001;

-- the month's chart
SELECT /*+ MAX_EXECUTION_TIME(2000) */ SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- the day's hours
SELECT /*+ MAX_EXECUTION_TIME(2000) */ SUBSTR(starts_at, 1, 13) AS starts_at, model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY SUBSTR(starts_at, 1, 13), model LIMIT 10001;

-- a key's chart
SELECT /*+ MAX_EXECUTION_TIME(2000) */ SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- a member's chart
SELECT /*+ MAX_EXECUTION_TIME(2000) */ SUBSTR(starts_at, 1, 10) AS starts_at, model AS model, CAST(SUM(requests) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(SUM(unknown_costs) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(latency0) AS CHAR) AS latency0, CAST(SUM(latency1) AS CHAR) AS latency1, CAST(SUM(latency2) AS CHAR) AS latency2, CAST(SUM(latency3) AS CHAR) AS latency3, CAST(SUM(latency4) AS CHAR) AS latency4, CAST(SUM(latency5) AS CHAR) AS latency5, CAST(SUM(latency6) AS CHAR) AS latency6, CAST(SUM(latency7) AS CHAR) AS latency7, CAST(SUM(latency8) AS CHAR) AS latency8, CAST(SUM(latency9) AS CHAR) AS latency9 FROM usage_roll_ups FORCE INDEX (usage_roll_ups_owner) WHERE owner_id = ? AND resolution = ? AND starts_at >= ? AND starts_at < ? GROUP BY SUBSTR(starts_at, 1, 10), model LIMIT 10001;

-- what keys have spent
SELECT api_key_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id IN (?, ?) AND resolution = ? GROUP BY api_key_id, starts_at;

-- what a person has spent this month
SELECT owner_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups FORCE INDEX (usage_roll_ups_owner) WHERE owner_id IN (?) AND resolution = ? AND starts_at >= ? GROUP BY owner_id, starts_at;

-- what all keys have spent this month
SELECT api_key_id AS id, starts_at, SUM(cost) AS cost FROM usage_roll_ups FORCE INDEX (usage_roll_ups_key) WHERE api_key_id IN (?) AND resolution = ? AND starts_at >= ? GROUP BY api_key_id, starts_at;

-- sums of a part of an hour
SELECT /*+ MAX_EXECUTION_TIME(2000) */ model AS model, CAST(COUNT(*) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(COUNT(*) - COUNT(cost) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(CASE WHEN latency_ms <= 250 THEN 1 ELSE 0 END) AS CHAR) AS latency0, CAST(SUM(CASE WHEN latency_ms > 250 AND latency_ms <= 500 THEN 1 ELSE 0 END) AS CHAR) AS latency1, CAST(SUM(CASE WHEN latency_ms > 500 AND latency_ms <= 1000 THEN 1 ELSE 0 END) AS CHAR) AS latency2, CAST(SUM(CASE WHEN latency_ms > 1000 AND latency_ms <= 2000 THEN 1 ELSE 0 END) AS CHAR) AS latency3, CAST(SUM(CASE WHEN latency_ms > 2000 AND latency_ms <= 4000 THEN 1 ELSE 0 END) AS CHAR) AS latency4, CAST(SUM(CASE WHEN latency_ms > 4000 AND latency_ms <= 8000 THEN 1 ELSE 0 END) AS CHAR) AS latency5, CAST(SUM(CASE WHEN latency_ms > 8000 AND latency_ms <= 16000 THEN 1 ELSE 0 END) AS CHAR) AS latency6, CAST(SUM(CASE WHEN latency_ms > 16000 AND latency_ms <= 32000 THEN 1 ELSE 0 END) AS CHAR) AS latency7, CAST(SUM(CASE WHEN latency_ms > 32000 AND latency_ms <= 64000 THEN 1 ELSE 0 END) AS CHAR) AS latency8, CAST(SUM(CASE WHEN latency_ms > 64000 THEN 1 ELSE 0 END) AS CHAR) AS latency9 FROM usage_records FORCE INDEX (PRIMARY) WHERE id >= ? AND id < ? GROUP BY model LIMIT 10001;

-- a key's sums of a part of an hour
SELECT /*+ MAX_EXECUTION_TIME(2000) */ model AS model, CAST(COUNT(*) AS CHAR) AS requests, CAST(SUM(input_tokens) AS CHAR) AS inputTokens, CAST(SUM(output_tokens) AS CHAR) AS outputTokens, CAST(SUM(cached_input_tokens) AS CHAR) AS cachedInputTokens, CAST(SUM(cache_write_input_tokens) AS CHAR) AS cacheWriteInputTokens, CAST(SUM(reasoning_tokens) AS CHAR) AS reasoningTokens, CAST(SUM(cost) AS CHAR) AS cost, CAST(COUNT(*) - COUNT(cost) AS CHAR) AS unknownCosts, CAST(SUM(latency_ms) AS CHAR) AS latencyMs, CAST(SUM(CASE WHEN latency_ms <= 250 THEN 1 ELSE 0 END) AS CHAR) AS latency0, CAST(SUM(CASE WHEN latency_ms > 250 AND latency_ms <= 500 THEN 1 ELSE 0 END) AS CHAR) AS latency1, CAST(SUM(CASE WHEN latency_ms > 500 AND latency_ms <= 1000 THEN 1 ELSE 0 END) AS CHAR) AS latency2, CAST(SUM(CASE WHEN latency_ms > 1000 AND latency_ms <= 2000 THEN 1 ELSE 0 END) AS CHAR) AS latency3, CAST(SUM(CASE WHEN latency_ms > 2000 AND latency_ms <= 4000 THEN 1 ELSE 0 END) AS CHAR) AS latency4, CAST(SUM(CASE WHEN latency_ms > 4000 AND latency_ms <= 8000 THEN 1 ELSE 0 END) AS CHAR) AS latency5, CAST(SUM(CASE WHEN latency_ms > 8000 AND latency_ms <= 16000 THEN 1 ELSE 0 END) AS CHAR) AS latency6, CAST(SUM(CASE WHEN latency_ms > 16000 AND latency_ms <= 32000 THEN 1 ELSE 0 END) AS CHAR) AS latency7, CAST(SUM(CASE WHEN latency_ms > 32000 AND latency_ms <= 64000 THEN 1 ELSE 0 END) AS CHAR) AS latency8, CAST(SUM(CASE WHEN latency_ms > 64000 THEN 1 ELSE 0 END) AS CHAR) AS latency9 FROM usage_records FORCE INDEX (usage_records_key) WHERE api_key_id = ? AND id >= ? AND id < ? GROUP BY model LIMIT 10001;
