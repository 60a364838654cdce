/**
 * Everything of an adapter of Lockstorm but the lock: docs/adapter-protocol.md. Implement {@link
 * lockstorm.adapter.Adapter} and hand it to {@link lockstorm.adapter.Adapter#serve}.
 */
package lockstorm.adapter;
