// Package goredis connects the adapters of libraries that use go-redis.
package goredis

import (
	"time"

	"github.com/redis/go-redis/v9"
	"lockstorm.dev/adapter"
)

// AnswersWithin is how long a call on go-redis may take where no packet comes through: four tries,
// each with five dials, a handshake and a reply of 5 s each, and the pauses between them.
const AnswersWithin = 150 * time.Second

// Connect returns a client of go-redis for each server that is asked by itself: one for each of
// several independent servers, and else one in all, which asks sentinels for the primary or is
// redirected by a Cluster where there are such. All have go-redis's own defaults.
func Connect(client *adapter.Client, servers []adapter.Server) []redis.UniversalClient {
	switch client.Topology {
	case "sentinel":
		return []redis.UniversalClient{redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName:    client.Sentinels.Master,
			SentinelAddrs: adapter.Addresses(client.Sentinels.Sentinels),
		})}
	case "cluster":
		return []redis.UniversalClient{redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: adapter.Addresses(client.Nodes),
		})}
	default:
		var clients []redis.UniversalClient
		for _, server := range servers {
			clients = append(clients, redis.NewClient(&redis.Options{Addr: server.Address()}))
		}
		return clients
	}
}
