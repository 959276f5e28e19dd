-- Inserts, indexes, joins, recursion, triggers, aggregates, sorting; for tests/truth/long_runs.
CREATE TABLE worker(id INTEGER PRIMARY KEY, name TEXT, height REAL);
CREATE TABLE log(id INTEGER, what TEXT);
CREATE TRIGGER logged AFTER UPDATE ON worker BEGIN INSERT INTO log VALUES (new.id, new.name); END;
WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 4000)
INSERT INTO worker SELECT i, 'name ' || (i * 7919 % 4000), i * 1.5 FROM number;
CREATE INDEX by_name ON worker(name);
SELECT count(*), sum(one.id) FROM worker one JOIN worker two ON one.name = two.name WHERE one.height > 20;
UPDATE worker SET name = upper(name) WHERE id % 3 = 0;
SELECT count(*) FROM log;
SELECT substr(name, 1, 6) AS start, count(*), avg(height) FROM worker GROUP BY start ORDER BY 3 DESC LIMIT 5;
WITH RECURSIVE tree(level, path) AS (SELECT 0, '' UNION ALL
  SELECT level + 1, path || branch FROM tree, (SELECT 'a' AS branch UNION SELECT 'b' UNION SELECT 'c') WHERE level < 7)
SELECT count(*), max(path) FROM tree;
DELETE FROM worker WHERE name LIKE '%9%';
SELECT count(*), min(name), group_concat(DISTINCT length(name)) FROM worker;
SELECT json_group_array(id) FROM (SELECT id FROM worker ORDER BY name LIMIT 40);
