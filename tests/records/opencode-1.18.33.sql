CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO "message" VALUES('msg_205bf5405001L5cMeOFZyixhRD','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392754693,1795392760128,'{"role":"user","time":{"created":1795392754693},"agent":"build","model":{"providerID":"lab","modelID":"mock-1"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_205bf543e001xc4TTk94gT23xz','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392754750,1795392759915,'{"parentID":"msg_205bf5405001L5cMeOFZyixhRD","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/shop-api","root":"/home/dev/shop-api"},"cost":0.001284,"tokens":{"total":1242,"input":1200,"output":42,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-1","providerID":"lab","time":{"created":1795392754750,"completed":1795392759912},"finish":"stop"}');
INSERT INTO "message" VALUES('msg_205bf7847001NQ4PWRWL9qVtfA','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392763975,1795392764890,'{"role":"user","time":{"created":1795392763975},"agent":"build","model":{"providerID":"lab","modelID":"mock-1"},"summary":{"diffs":[]}}');
INSERT INTO "message" VALUES('msg_205bf786000111aX7PZbyHjyLQ','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764000,1795392764457,'{"parentID":"msg_205bf7847001NQ4PWRWL9qVtfA","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/shop-api","root":"/home/dev/shop-api"},"cost":0.001284,"tokens":{"total":1242,"input":1200,"output":42,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-1","providerID":"lab","time":{"created":1795392764000,"completed":1795392764455},"finish":"tool-calls"}');
INSERT INTO "message" VALUES('msg_205bf7a30001h87Hc1flnxinoN','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764464,1795392764777,'{"parentID":"msg_205bf7847001NQ4PWRWL9qVtfA","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/shop-api","root":"/home/dev/shop-api"},"cost":0.001284,"tokens":{"total":1242,"input":1200,"output":42,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"mock-1","providerID":"lab","time":{"created":1795392764464,"completed":1795392764776},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO "part" VALUES('prt_205bf5407001WEtI98NE5cnEV8','msg_205bf5405001L5cMeOFZyixhRD','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392754712,1795392754718,'{"type":"text","text":"what is the answer?"}');
INSERT INTO "part" VALUES('prt_205bf65e700119h82H15etgJVD','msg_205bf543e001xc4TTk94gT23xz','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392759271,1795392759275,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_205bf65ed0011NK9Euy6nDEEW8','msg_205bf543e001xc4TTk94gT23xz','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392759277,1795392759283,'{"type":"text","text":"The answer is forty-two.","time":{"start":1795392759277,"end":1795392759282}}');
INSERT INTO "part" VALUES('prt_205bf6768001dS4X5nEVOoiDh0','msg_205bf543e001xc4TTk94gT23xz','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392759656,1795392759673,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1242,"input":1200,"output":42,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.001284}');
INSERT INTO "part" VALUES('prt_205bf784b001sKaL58HtYAi5Z6','msg_205bf7847001NQ4PWRWL9qVtfA','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392763987,1795392763988,'{"type":"text","text":"plan it"}');
INSERT INTO "part" VALUES('prt_205bf793f001SWXyLJ7KuUvIJ1','msg_205bf786000111aX7PZbyHjyLQ','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764223,1795392764224,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_205bf79490012Ft6tzlrZkuHqZ','msg_205bf786000111aX7PZbyHjyLQ','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764233,1795392764300,'{"type":"text","text":"I plan.","time":{"start":1795392764233,"end":1795392764299}}');
INSERT INTO "part" VALUES('prt_205bf795600147cbSCuB2DiIe5','msg_205bf786000111aX7PZbyHjyLQ','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764247,1795392764298,'{"type":"tool","tool":"todowrite","callID":"call_lab_748378051494","state":{"status":"completed","input":{"todos":[{"content":"one","status":"completed","priority":"high","id":"1"},{"content":"two","status":"in_progress","priority":"high","id":"2"},{"content":"three","status":"pending","priority":"low","id":"3"}]},"output":"[\n  {\n    \"content\": \"one\",\n    \"status\": \"completed\",\n    \"priority\": \"high\"\n  },\n  {\n    \"content\": \"two\",\n    \"status\": \"in_progress\",\n    \"priority\": \"high\"\n  },\n  {\n    \"content\": \"three\",\n    \"status\": \"pending\",\n    \"priority\": \"low\"\n  }\n]","metadata":{"todos":[{"content":"one","status":"completed","priority":"high"},{"content":"two","status":"in_progress","priority":"high"},{"content":"three","status":"pending","priority":"low"}],"truncated":false},"title":"2 todos","time":{"start":1795392764284,"end":1795392764296}}}');
INSERT INTO "part" VALUES('prt_205bf79f90012TVrz57ZPe8TD6','msg_205bf786000111aX7PZbyHjyLQ','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764409,1795392764410,'{"reason":"tool-calls","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1242,"input":1200,"output":42,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.001284}');
INSERT INTO "part" VALUES('prt_205bf7aa7001r0vRcSf5fxKP83','msg_205bf7a30001h87Hc1flnxinoN','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764583,1795392764593,'{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO "part" VALUES('prt_205bf7ab2001QZZBE0Be8StLqz','msg_205bf7a30001h87Hc1flnxinoN','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764594,1795392764598,'{"type":"text","text":"planned.","time":{"start":1795392764594,"end":1795392764596}}');
INSERT INTO "part" VALUES('prt_205bf7b110014Ud9NXsCOvMMZl','msg_205bf7a30001h87Hc1flnxinoN','ses_dfa40ac39ffeyK3RPqgB2cAEAh',1795392764690,1795392764691,'{"reason":"stop","snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-finish","tokens":{"total":1242,"input":1200,"output":42,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.001284}');
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO "session" VALUES('ses_dfa40ac39ffeyK3RPqgB2cAEAh','4876cef6f7c4dc7352357cf3031289891b6d0903',NULL,NULL,'quick-wizard','/home/dev/shop-api','','ok','1.18.33',NULL,0,0,0,NULL,NULL,0.003852,3600,126,0,0,0,NULL,NULL,'build','{"id":"mock-1","providerID":"lab"}',1795392754630,1795392764795,NULL,NULL);
CREATE TABLE `todo` (
          `session_id` text NOT NULL,
          `content` text NOT NULL,
          `status` text NOT NULL,
          `priority` text NOT NULL,
          `position` integer NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          CONSTRAINT `todo_pk` PRIMARY KEY(`session_id`, `position`),
          CONSTRAINT `fk_todo_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO "todo" VALUES('ses_dfa40ac39ffeyK3RPqgB2cAEAh','one','completed','high',0,1795392764272,1795392764272);
INSERT INTO "todo" VALUES('ses_dfa40ac39ffeyK3RPqgB2cAEAh','two','in_progress','high',1,1795392764272,1795392764272);
INSERT INTO "todo" VALUES('ses_dfa40ac39ffeyK3RPqgB2cAEAh','three','pending','low',2,1795392764272,1795392764272);
CREATE INDEX `message_session_time_created_id_idx` ON `message` (`session_id`,`time_created`,`id`);
