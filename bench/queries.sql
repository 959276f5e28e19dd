-- What bench/decode records of sqlite3: `sqlite3 :memory:` reads a table "size" with one number, then this.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, kind INT, price INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT items FROM size))
INSERT INTO item SELECT i, 'item ' || (i * 7919 % 10007), i * 31 % 97, i * 17 % 1009 FROM n;
CREATE INDEX item_kind ON item(kind, price);
SELECT kind, count(*), sum(price), max(name) FROM item GROUP BY kind ORDER BY 3 DESC LIMIT 5;
SELECT count(*) FROM item a JOIN item b ON a.kind = b.kind AND a.price = b.price WHERE a.id < b.id;
SELECT count(DISTINCT name) FROM item WHERE name LIKE '%77%';
