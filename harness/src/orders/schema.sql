-- A row of `given_back` for each time that the stock of an order was given back, in order.
CREATE TABLE orders (
  id     INTEGER PRIMARY KEY,
  due_ms INTEGER NOT NULL,                       -- past its time from here on, in the run's time
  status TEXT NOT NULL CHECK (status IN ('unpaid', 'closed'))
);
CREATE TABLE given_back (
  turn    INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (id),
  service TEXT NOT NULL
);
-- The one item that all orders are about; each has taken one piece of it.
CREATE TABLE stock (pieces INTEGER NOT NULL);
-- The largest fencing token seen, and who came with it.
CREATE TABLE fence (token INTEGER NOT NULL, bearer TEXT NOT NULL);
INSERT INTO stock VALUES (0);
INSERT INTO fence VALUES (0, '');
