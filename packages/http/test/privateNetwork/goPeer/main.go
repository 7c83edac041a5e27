// A peer of the private network for tests: an agent's end of a tunnel, on WireGuard and a TCP stack that this project has not written. It speaks
// to the relay at the address of the first argument, under the IPv6 address of the second one.
//
// It writes "key HEX" first. For each line "peer HEX ADDRESS" that it reads it takes a peer, and writes "ready HEX".
package main

import (
	"bufio"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/creack/pty"
	"golang.org/x/crypto/nacl/box"
	"golang.zx2c4.com/wireguard/conn"
	"golang.zx2c4.com/wireguard/device"
	"golang.zx2c4.com/wireguard/tun/netstack"
)

const (
	serverKey  = 1
	clientInfo = 2
	sendPacket = 4
	recvPacket = 5
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// The relay, as WireGuard sends over it. Peers are named by their keys.
type relay struct {
	connection net.Conn
	reader     *bufio.Reader
}

func (r *relay) read() (byte, []byte, error) {
	header := make([]byte, 5)
	if _, err := io.ReadFull(r.reader, header); err != nil {
		return 0, nil, err
	}
	payload := make([]byte, binary.BigEndian.Uint32(header[1:]))
	_, err := io.ReadFull(r.reader, payload)
	return header[0], payload, err
}

func (r *relay) write(kind byte, parts ...[]byte) error {
	frame := []byte{kind, 0, 0, 0, 0}
	for _, part := range parts {
		frame = append(frame, part...)
	}
	binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-5))
	_, err := r.connection.Write(frame)
	return err
}

func enter(address string, private, public *[32]byte) (*relay, error) {
	to, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	connection, err := net.Dial("tcp", to.Host)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(connection, "GET /derp HTTP/1.1\r\nHost: %s\r\nUpgrade: DERP\r\nConnection: Upgrade\r\n\r\n", to.Host)
	r := &relay{connection: connection, reader: bufio.NewReader(connection)}
	response, err := http.ReadResponse(r.reader, nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != 101 {
		return nil, errors.New("the relay answers " + response.Status)
	}
	kind, payload, err := r.read()
	if err != nil || kind != serverKey || len(payload) < 40 {
		return nil, fmt.Errorf("the relay does not tell its key: %d %v", kind, err)
	}
	relayKey := (*[32]byte)(payload[8:40])
	var nonce [24]byte
	must(rand.Read(nonce[:]))
	sealed := box.Seal(nonce[:], []byte(`{"version":2,"CanAckPings":true}`), &nonce, relayKey, private)
	return r, r.write(clientInfo, public[:], sealed)
}

type endpoint string

func (e endpoint) ClearSrc()           {}
func (e endpoint) SrcToString() string { return "" }
func (e endpoint) DstToString() string { return string(e) }
func (e endpoint) DstToBytes() []byte  { return []byte(e) }
func (e endpoint) DstIP() netip.Addr   { return netip.Addr{} }
func (e endpoint) SrcIP() netip.Addr   { return netip.Addr{} }

func (r *relay) Open(uint16) ([]conn.ReceiveFunc, uint16, error) {
	receive := func(packets [][]byte, sizes []int, endpoints []conn.Endpoint) (int, error) {
		for {
			kind, payload, err := r.read()
			if err != nil {
				return 0, net.ErrClosed
			}
			if kind == recvPacket && len(payload) > 32 {
				sizes[0] = copy(packets[0], payload[32:])
				endpoints[0] = endpoint(hex.EncodeToString(payload[:32]))
				return 1, nil
			}
		}
	}
	return []conn.ReceiveFunc{receive}, 1, nil
}

func (r *relay) Close() error         { return nil }
func (r *relay) SetMark(uint32) error { return nil }
func (r *relay) BatchSize() int       { return 1 }
func (r *relay) Send(packets [][]byte, to conn.Endpoint) error {
	key, err := hex.DecodeString(to.DstToString())
	if err != nil {
		return err
	}
	for _, packet := range packets {
		if err := r.write(sendPacket, key, packet); err != nil {
			return err
		}
	}
	return nil
}
func (r *relay) ParseEndpoint(text string) (conn.Endpoint, error) { return endpoint(text), nil }

// A terminal, as agents serve it.
func terminal(connection net.Conn) {
	defer connection.Close()
	var length uint16
	if binary.Read(connection, binary.LittleEndian, &length) != nil {
		return
	}
	described := make([]byte, length)
	var begin struct{ Height, Width uint16 }
	if _, err := io.ReadFull(connection, described); err != nil || json.Unmarshal(described, &begin) != nil {
		return
	}
	command := exec.Command("/bin/sh")
	command.Env = []string{"PS1=$ ", "PATH=" + os.Getenv("PATH")}
	shell, err := pty.StartWithSize(command, &pty.Winsize{Rows: begin.Height, Cols: begin.Width})
	if err != nil {
		return
	}
	defer command.Wait()
	defer shell.Close()
	go func() {
		requests := json.NewDecoder(connection)
		for {
			var request struct {
				Data          string
				Height, Width uint16
			}
			if requests.Decode(&request) != nil {
				command.Process.Kill()
				return
			}
			if request.Height != 0 && request.Width != 0 {
				pty.Setsize(shell, &pty.Winsize{Rows: request.Height, Cols: request.Width})
			}
			shell.WriteString(request.Data)
		}
	}()
	io.Copy(connection, shell)
}

// A web app: what is sent to /echo comes back, and /bytes/N has so many.
func app() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		fmt.Fprintf(response, "<title>an app behind the private network</title>%s", request.URL.Path)
	})
	mux.HandleFunc("/echo", func(response http.ResponseWriter, request *http.Request) { io.Copy(response, request.Body) })
	mux.HandleFunc("/bytes/{count}", func(response http.ResponseWriter, request *http.Request) {
		count, _ := strconv.ParseInt(request.PathValue("count"), 10, 64)
		response.Header().Set("Content-Length", strconv.FormatInt(count, 10))
		piece := []byte(strings.Repeat("atelier\n", 8192))
		for count > 0 {
			some := min(count, int64(len(piece)))
			if _, err := response.Write(piece[:some]); err != nil {
				return
			}
			count -= some
		}
	})
	return mux
}

// The part of the HTTP API of agents that lists ports.
func api() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v0/listening-ports", func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		io.WriteString(response, `{"ports":[{"process_name":"app","network":"tcp","port":8080},{"process_name":"other","network":"tcp","port":8081}]}`)
	})
	return mux
}

func main() {
	secret := must(ecdh.X25519().GenerateKey(rand.Reader))
	private, public := (*[32]byte)(secret.Bytes()), (*[32]byte)(secret.PublicKey().Bytes())
	address := must(netip.ParseAddr(os.Args[2]))
	tunnel, network, err := netstack.CreateNetTUN([]netip.Addr{address}, nil, 1280)
	must(network, err)
	link := must(enter(os.Args[1], private, public))
	wireguard := device.NewDevice(tunnel, link, device.NewLogger(device.LogLevelError, ""))
	must(0, wireguard.IpcSet("private_key="+hex.EncodeToString(private[:])+"\n"))
	must(0, wireguard.Up())

	listen := func(port int) net.Listener { return must(network.ListenTCP(&net.TCPAddr{Port: port})) }
	terminals := listen(2)
	go func() {
		for {
			connection, err := terminals.Accept()
			if err != nil {
				return
			}
			go terminal(connection)
		}
	}()
	go http.Serve(listen(4), api())
	go http.Serve(listen(8080), app())

	fmt.Println("key", hex.EncodeToString(public[:]))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 3 || words[0] != "peer" {
			continue
		}
		must(0, wireguard.IpcSet(fmt.Sprintf("public_key=%s\nendpoint=%s\nallowed_ip=%s/128\n", words[1], words[1], words[2])))
		fmt.Println("ready", words[1])
	}
}
