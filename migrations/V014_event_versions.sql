-- How a session's person proved who they are: the words of the SignedIn, sorted and parted by a space. Version 1
-- of the event does not say it; an ID token was the only way then, and servers of that release write no other.
ALTER TABLE sessions ADD COLUMN methods text NOT NULL DEFAULT 'fed';
