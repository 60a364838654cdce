module lockstorm.dev/adapter

go 1.24
