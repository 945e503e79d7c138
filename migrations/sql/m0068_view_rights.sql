-- Rights on apps that imply the right to view.
--
-- Whoever has any right on an app can view it.
UPDATE app_grants SET rights = rights | 1 WHERE rights <> 0 AND rights % 2 = 0;
