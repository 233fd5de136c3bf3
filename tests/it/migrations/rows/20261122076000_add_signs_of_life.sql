INSERT INTO servers VALUES ('a', 17);
